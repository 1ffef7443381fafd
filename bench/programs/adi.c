/* An alternating direction implicit solver of the heat equation on a 3D grid, which is cut along
 * two of its axes.
 *
 *   adi [steps [cells]]      default 40 and 24 (cells along a side of a block)
 *
 * Each step fills the halos (Irecv, Isend, Waitall), then solves tridiagonal systems along each
 * axis. Along an axis that is cut these are pipelines over the ranks, some planes at a time:
 * elimination from the first rank to the last, substitution back.
 */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timing.h"

enum { kVariables = 5, kMaxCells = 64, kPlanes = 2, kEdge = 2 * kVariables * kPlanes * kMaxCells };

typedef double Cell[kVariables];

static int n; /* cells along a side of the block */
static Cell *u, *next;
static double* factor; /* of the elimination, for each cell */
static MPI_Comm grid;
static int neighbours[2][2];
static double halo[4][2][kVariables * kMaxCells * kMaxCells];

static size_t place(int x, int y, int z) {
  return ((size_t)z * (size_t)n + (size_t)y) * (size_t)n + (size_t)x;
}

/* Cell i along `axis`, in line (j, k). */
static size_t along(int axis, int i, int j, int k) {
  return axis == 0 ? place(i, j, k) : axis == 1 ? place(j, i, k) : place(j, k, i);
}

static int pack_side(int axis, int side) {
  double* to = halo[2 * axis + side][1];
  for (int k = 0; k < n; ++k)
    for (int j = 0; j < n; ++j, to += kVariables)
      memcpy(to, u[along(axis, side * (n - 1), j, k)], sizeof(Cell));
  return kVariables * n * n;
}

static void copy_faces(void) {
  MPI_Request requests[8];
  const int count = kVariables * n * n;
  int r = 0;
  for (int side = 0; side < 4; ++side)
    MPI_Irecv(halo[side][0], count, MPI_DOUBLE, neighbours[side / 2][side % 2], side ^ 1, grid,
              &requests[r++]);
  for (int side = 0; side < 4; ++side)
    MPI_Isend(halo[side][1], pack_side(side / 2, side % 2), MPI_DOUBLE,
              neighbours[side / 2][side % 2], side, grid, &requests[r++]);
  MPI_Waitall(r, requests, MPI_STATUSES_IGNORE);
}

static void right_side(void) {
  copy_faces();
  for (int z = 0; z < n; ++z)
    for (int y = 0; y < n; ++y)
      for (int x = 0; x < n; ++x)
        for (int v = 0; v < kVariables; ++v) {
          const double west =
              x > 0 ? u[place(x - 1, y, z)][v] : halo[0][0][(z * n + y) * kVariables + v];
          const double east =
              x + 1 < n ? u[place(x + 1, y, z)][v] : halo[1][0][(z * n + y) * kVariables + v];
          next[place(x, y, z)][v] = 0.1 * (west + east) + 0.8 * u[place(x, y, z)][v];
        }
}

static void receive_edge(double* edge, int count, int from, int tag) {
  MPI_Request request;
  MPI_Irecv(edge, count, MPI_DOUBLE, from, tag, grid, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void eliminate(int axis, int first, double* edge) {
  int at = 0;
  for (int k = first; k < first + kPlanes && k < n; ++k)
    for (int j = 0; j < n; ++j, at += 2 * kVariables) {
      double before = edge[at];
      double* value = &edge[at + 1];
      for (int i = 0; i < n; ++i) {
        const size_t cell = along(axis, i, j, k);
        factor[cell] = before = 0.25 / (1.5 - 0.25 * before);
        for (int v = 0; v < kVariables; ++v)
          value[v] = next[cell][v] = factor[cell] * (4.0 * next[cell][v] + value[v]);
      }
      edge[at] = before;
    }
}

static void substitute(int axis, int first, double* edge) {
  int at = 0;
  for (int k = first; k < first + kPlanes && k < n; ++k)
    for (int j = 0; j < n; ++j, at += kVariables)
      for (int i = n - 1; i >= 0; --i) {
        const size_t cell = along(axis, i, j, k);
        for (int v = 0; v < kVariables; ++v)
          edge[at + v] = next[cell][v] += factor[cell] * edge[at + v];
      }
}

static void forward(int axis, const int ends[2]) {
  double edge[kEdge];
  const int count = 2 * kVariables * kPlanes * n;
  for (int first = 0; first < n; first += kPlanes) {
    memset(edge, 0, sizeof edge);
    if (ends[0] != MPI_PROC_NULL) receive_edge(edge, count, ends[0], axis);
    eliminate(axis, first, edge);
    if (ends[1] != MPI_PROC_NULL) MPI_Send(edge, count, MPI_DOUBLE, ends[1], axis, grid);
  }
}

static void backward(int axis, const int ends[2]) {
  double edge[kEdge];
  const int count = kVariables * kPlanes * n;
  for (int first = 0; first < n; first += kPlanes) {
    memset(edge, 0, sizeof edge);
    if (ends[1] != MPI_PROC_NULL) receive_edge(edge, count, ends[1], 4 + axis);
    substitute(axis, first, edge);
    if (ends[0] != MPI_PROC_NULL) MPI_Send(edge, count, MPI_DOUBLE, ends[0], 4 + axis, grid);
  }
}

static void solve(int axis) {
  static const int none[2] = {MPI_PROC_NULL, MPI_PROC_NULL};
  const int* const ends = axis < 2 ? neighbours[axis] : none;
  forward(axis, ends);
  backward(axis, ends);
}

static void step(void) {
  right_side();
  for (int axis = 0; axis < 3; ++axis) solve(axis);
  for (size_t i = 0; i < (size_t)n * (size_t)n * (size_t)n; ++i)
    for (int v = 0; v < kVariables; ++v) u[i][v] = 0.5 * next[i][v];
}

int main(int argc, char** argv) {
  const int periods[2] = {0, 0};
  int size, rank, dims[2] = {0, 0};
  timed_init(&argc, &argv);
  const int steps = argc > 1 ? atoi(argv[1]) : 40;
  n = argc > 2 ? atoi(argv[2]) : 24;
  if (n < kPlanes || n > kMaxCells) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Dims_create(size, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  MPI_Comm_rank(grid, &rank);
  for (int axis = 0; axis < 2; ++axis)
    MPI_Cart_shift(grid, axis, 1, &neighbours[axis][0], &neighbours[axis][1]);
  const size_t cells = (size_t)n * (size_t)n * (size_t)n;
  u = calloc(cells, sizeof *u);
  next = calloc(cells, sizeof *next);
  factor = calloc(cells, sizeof *factor);
  if (u == NULL || next == NULL || factor == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (size_t i = 0; i < cells; ++i) u[i][0] = 1.0 + rank;
  for (int i = 0; i < steps; ++i) {
    begin_iteration();
    step();
    end_iteration();
  }
  double sum = u[cells / 2][0], all = 0.0;
  MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, grid);
  MPI_Barrier(grid);
  if (rank == 0) printf("adi: %d ranks, %d steps, sum %.3e\n", size, steps, all);
  MPI_Comm_free(&grid);
  timed_finalize(rank);
  return 0;
}
