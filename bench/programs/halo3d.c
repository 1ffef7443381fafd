/* 3D halo exchange with a 7-point stencil's six neighbours, and next to no computation.
 *
 *   halo3d [iterations]      default 300; any number of ranks; periodic in every direction
 *
 * Each iteration: six Irecv, six Isend, one Waitall; every tenth an Allreduce.
 */
#ifndef _POSIX_C_SOURCE /* SMPI may have put a header before the program */
#define _POSIX_C_SOURCE 200809L
#endif
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "timing.h"
#include "work.h"

enum { kCells = 64, kSides = 6, kReduceEvery = 10 };

static void exchange(double field[kSides][2][kCells], const int neighbours[kSides], MPI_Comm grid) {
  MPI_Request requests[2 * kSides];
  MPI_Status statuses[2 * kSides];
  for (int side = 0; side < kSides; ++side) {
    MPI_Irecv(field[side][0], kCells, MPI_DOUBLE, neighbours[side], side ^ 1, grid,
              &requests[side]);
  }
  for (int side = 0; side < kSides; ++side) {
    MPI_Isend(field[side][1], kCells, MPI_DOUBLE, neighbours[side], side, grid,
              &requests[kSides + side]);
  }
  MPI_Waitall(2 * kSides, requests, statuses);
}

int main(int argc, char** argv) {
  static double field[kSides][2][kCells]; /* by side: halo, edge */
  const int periods[3] = {1, 1, 1};
  int size, rank, dims[3] = {0, 0, 0}, neighbours[kSides];
  MPI_Comm grid;
  timed_init(&argc, &argv);
  const int iterations = argc > 1 ? atoi(argv[1]) : 300;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Dims_create(size, 3, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &grid);
  MPI_Comm_rank(grid, &rank);
  for (int d = 0; d < 3; ++d)
    MPI_Cart_shift(grid, d, 1, &neighbours[2 * d], &neighbours[2 * d + 1]);
  double sum = 0.0;
  for (int i = 0; i < iterations; ++i) {
    begin_iteration();
    exchange(field, neighbours, grid);
    field[0][1][0] += 1.0;
    work(rank, kCells * kCells);
    if (i % kReduceEvery == 0) MPI_Allreduce(&field[0][1][0], &sum, 1, MPI_DOUBLE, MPI_SUM, grid);
    end_iteration();
  }
  MPI_Barrier(grid);
  if (rank == 0) printf("halo3d: %d ranks, %d iterations, sum %.1f\n", size, iterations, sum);
  MPI_Comm_free(&grid);
  timed_finalize(rank);
  return 0;
}
