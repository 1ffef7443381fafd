/* Jacobi's method on a 2D mesh: computation between the calls, and the edges of blocks exchanged.
 *
 *   jacobi2d [iterations [cells]]      default 500, blocks of 128 x 128; any number of ranks
 *
 * Each iteration: four Irecv, four Isend, one Waitall, and one step of the method; every tenth an
 * Allreduce of the largest change.
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timing.h"

enum { kSides = 4, kReduceEvery = 10 };

/* Blocks have a border for the neighbours' edges. */
static int cells = 128, width;
static double *now, *next;
static double* edges; /* by side: halo, edge */

static double* edge(int side, int own) { return edges + (2 * side + own) * cells; }

static void pack(void) {
  for (int i = 0; i < cells; ++i) {
    edge(0, 1)[i] = now[width + 1 + i];
    edge(1, 1)[i] = now[cells * width + 1 + i];
    edge(2, 1)[i] = now[(i + 1) * width + 1];
    edge(3, 1)[i] = now[(i + 1) * width + cells];
  }
}

static void unpack(void) {
  for (int i = 0; i < cells; ++i) {
    now[1 + i] = edge(0, 0)[i];
    now[(cells + 1) * width + 1 + i] = edge(1, 0)[i];
    now[(i + 1) * width] = edge(2, 0)[i];
    now[(i + 1) * width + cells + 1] = edge(3, 0)[i];
  }
}

static double step(void) {
  double largest = 0.0;
  for (int y = 1; y <= cells; ++y) {
    for (int x = 1; x <= cells; ++x) {
      const double* const at = now + y * width + x;
      const double mean = 0.25 * (at[-1] + at[1] + at[-width] + at[width]);
      const double change = fabs(mean - *at);
      if (change > largest) largest = change;
      next[y * width + x] = mean;
    }
  }
  double* const other = now;
  now = next;
  next = other;
  return largest;
}

static void exchange(const int neighbours[kSides], MPI_Comm grid) {
  MPI_Request requests[2 * kSides];
  for (int side = 0; side < kSides; ++side)
    MPI_Irecv(edge(side, 0), cells, MPI_DOUBLE, neighbours[side], side ^ 1, grid, &requests[side]);
  for (int side = 0; side < kSides; ++side)
    MPI_Isend(edge(side, 1), cells, MPI_DOUBLE, neighbours[side], side, grid,
              &requests[kSides + side]);
  MPI_Waitall(2 * kSides, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
  const int periods[2] = {0, 0};
  int size, rank, dims[2] = {0, 0}, neighbours[kSides];
  MPI_Comm grid;
  timed_init(&argc, &argv);
  const int iterations = argc > 1 ? atoi(argv[1]) : 500;
  if (argc > 2) cells = atoi(argv[2]);
  if (cells < 1 || cells > 8192) MPI_Abort(MPI_COMM_WORLD, 2);
  width = cells + 2;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Dims_create(size, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  MPI_Comm_rank(grid, &rank);
  MPI_Cart_shift(grid, 0, 1, &neighbours[0], &neighbours[1]);
  MPI_Cart_shift(grid, 1, 1, &neighbours[2], &neighbours[3]);
  const size_t points = (size_t)width * (size_t)width;
  now = calloc(points, sizeof *now);
  next = calloc(points, sizeof *next);
  edges = calloc((size_t)(2 * kSides * cells), sizeof *edges);
  if (now == NULL || next == NULL || edges == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  now[width * (cells / 2) + cells / 2] = 1.0 + rank;
  double largest = 0.0;
  for (int i = 0; i < iterations; ++i) {
    begin_iteration();
    pack();
    exchange(neighbours, grid);
    unpack();
    const double change = step();
    if (i % kReduceEvery == 0) MPI_Allreduce(&change, &largest, 1, MPI_DOUBLE, MPI_MAX, grid);
    end_iteration();
  }
  MPI_Barrier(grid);
  if (rank == 0)
    printf("jacobi2d: %d ranks, %d iterations, change %.3e\n", size, iterations, largest);
  free(now);
  free(next);
  free(edges);
  MPI_Comm_free(&grid);
  timed_finalize(rank);
  return 0;
}
