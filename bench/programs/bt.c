/* An alternating direction implicit solver on a cube in multi-partition: q * q ranks, q cells each.
 *
 *   bt [steps [cells]]      default 40 and 12 (cells along a side of a block); ranks: a square
 *
 * Block c of rank (i, j) stands at x = i + c, y = j + c (modulo q), z = c. So every rank has one
 * block in each slice along each axis, and all of them work in every stage of a sweep. Each step
 * exchanges faces (Irecv, Isend, Waitall with the six neighbours), then along x, y and z eliminates
 * from slice to slice and substitutes back (Irecv, Wait, Isend, Wait).
 *
 * Compiled with -DSCALAR_LINES it is the program SP: a cell's variables are solved one by one, and
 * what goes to the next slice is under way while the next block is worked on.
 */
#ifndef _POSIX_C_SOURCE /* SMPI may have put a header before the program */
#define _POSIX_C_SOURCE 200809L
#endif
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timing.h"
#include "work.h"

#ifdef SCALAR_LINES
enum { kWorkOfLine = 1 };
#else
enum { kWorkOfLine = 5 }; /* a block of 5 * 5 for each cell */
#endif
enum { kAxes = 3, kVariables = 5, kForward = 10, kBackward = 20 };

static int rank, q, n, mine[2];  /* blocks and cells along a side; i and j */
static int neighbours[kAxes][2]; /* before and after along each axis */
static double *u, *right, *faces[2 * kAxes][2], *edge[2];
static MPI_Comm grid;

static int modulo(int a) { return (a % q + q) % q; }

/* The slice that block c is in, and the block that is in slice s. */
static int slice_of(int axis, int c) { return axis == 2 ? c : modulo(mine[axis] + c); }
static int block_in(int axis, int s) { return axis == 2 ? s : modulo(s - mine[axis]); }

static size_t cell(int c, int axis, int i, int j, int k) {
  const int x = axis == 0 ? i : j, y = axis == 1 ? i : axis == 0 ? j : k, z = axis == 2 ? i : k;
  const size_t side = (size_t)n;
  return ((((size_t)c * side + (size_t)z) * side + (size_t)y) * side + (size_t)x) * kVariables;
}

/* Faces of all blocks that have a neighbour on this side, one behind the other. */
static int pack(int axis, int side, double* to) {
  double* begin = to;
  for (int c = 0; c < q; ++c) {
    if (slice_of(axis, c) == (side == 0 ? 0 : q - 1)) continue;
    for (int k = 0; k < n * n; ++k, to += kVariables)
      memcpy(to, u + cell(c, axis, side * (n - 1), k % n, k / n), kVariables * sizeof(double));
  }
  return (int)(to - begin);
}
static void unpack(int axis, int side, const double* from) {
  for (int c = 0; c < q; ++c) {
    if (slice_of(axis, c) == (side == 0 ? 0 : q - 1)) continue;
    for (int k = 0; k < n * n; ++k)
      for (int v = 0; v < kVariables; ++v)
        right[cell(c, axis, side * (n - 1), k % n, k / n) + (size_t)v] += 0.1 * *from++;
  }
}

static void copy_faces(void) {
  MPI_Request requests[4 * kAxes];
  const int count = (q - 1) * n * n * kVariables;
  int r = 0;
  for (int side = 0; side < 2 * kAxes; ++side)
    MPI_Irecv(faces[side][0], count, MPI_DOUBLE, neighbours[side / 2][side % 2], side ^ 1, grid,
              &requests[r++]);
  for (int side = 0; side < 2 * kAxes; ++side)
    MPI_Isend(faces[side][1], pack(side / 2, side % 2, faces[side][1]), MPI_DOUBLE,
              neighbours[side / 2][side % 2], side, grid, &requests[r++]);
  MPI_Waitall(r, requests, MPI_STATUSES_IGNORE);
  for (int side = 0; side < 2 * kAxes; ++side) unpack(side / 2, side % 2, faces[side][0]);
}

static void compute_right_side(void) {
  const size_t cells = (size_t)q * (size_t)n * (size_t)n * (size_t)n * kVariables;
  for (size_t k = 0; k < cells; ++k) right[k] = 0.9 * u[k];
  work(rank, (double)cells);
  if (q > 1) copy_faces();
}

#ifndef SCALAR_LINES
static void receive_edge(int from, int tag, int count) {
  MPI_Request request;
  MPI_Irecv(edge[0], count, MPI_DOUBLE, from, tag, grid, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void send_edge(int to, int tag, int count) {
  MPI_Request request;
  MPI_Isend(edge[1], count, MPI_DOUBLE, to, tag, grid, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
#endif

/* Along all lines of block c, from its first cells to its last, or back. */
static void solve_block(int axis, int c, int is_forward) {
  for (int k = 0; k < n * n; ++k)
    for (int v = 0; v < kVariables; ++v) {
      double before = edge[0][k * kVariables + v];
      for (int i = 0; i < n; ++i) {
        const int at = is_forward ? i : n - 1 - i;
        double* here = &right[cell(c, axis, at, k % n, k / n) + (size_t)v];
        before = *here = is_forward ? 0.5 * *here + 0.25 * before : *here + 0.2 * before;
      }
      edge[1][k * kVariables + v] = before;
    }
  work(rank, (double)n * n * n * kVariables * kWorkOfLine);
}

#ifdef SCALAR_LINES
static void sweep(int axis, int is_forward) {
  const int count = n * n * kVariables, tag = (is_forward ? kForward : kBackward) + axis;
  const int from = neighbours[axis][is_forward ? 0 : 1], to = neighbours[axis][is_forward ? 1 : 0];
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  for (int stage = 0; stage < q; ++stage) {
    memset(edge[0], 0, (size_t)count * sizeof(double));
    if (stage > 0) {
      MPI_Irecv(edge[0], count, MPI_DOUBLE, from, tag, grid, &requests[0]);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    solve_block(axis, block_in(axis, is_forward ? stage : q - 1 - stage), is_forward);
    if (stage + 1 < q) MPI_Isend(edge[1], count, MPI_DOUBLE, to, tag, grid, &requests[1]);
  }
}
#else
static void sweep(int axis, int is_forward) {
  const int count = n * n * kVariables, tag = (is_forward ? kForward : kBackward) + axis;
  const int from = neighbours[axis][is_forward ? 0 : 1], to = neighbours[axis][is_forward ? 1 : 0];
  for (int stage = 0; stage < q; ++stage) {
    memset(edge[0], 0, (size_t)count * sizeof(double));
    if (stage > 0) receive_edge(from, tag, count);
    solve_block(axis, block_in(axis, is_forward ? stage : q - 1 - stage), is_forward);
    if (stage + 1 < q) send_edge(to, tag, count);
  }
}
#endif

static void x_solve(void) { sweep(0, 1), sweep(0, 0); }
static void y_solve(void) { sweep(1, 1), sweep(1, 0); }
static void z_solve(void) { sweep(2, 1), sweep(2, 0); }

static void step(void) {
  const size_t cells = (size_t)q * (size_t)n * (size_t)n * (size_t)n * kVariables;
  compute_right_side();
  x_solve();
  y_solve();
  z_solve();
  for (size_t k = 0; k < cells; ++k) u[k] = 0.5 * (u[k] + right[k]);
}

static double* room(size_t count) {
  double* p = calloc(count, sizeof *p);
  if (p == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  return p;
}

int main(int argc, char** argv) {
  const int periods[2] = {1, 1};
  int size;
  timed_init(&argc, &argv);
  const int steps = argc > 1 ? atoi(argv[1]) : 40;
  n = argc > 2 ? atoi(argv[2]) : 12;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  while (q * q < size) ++q;
  if (q * q != size || n < 2 || n > 256) MPI_Abort(MPI_COMM_WORLD, 2);
  const int dims[2] = {q, q};
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  MPI_Comm_rank(grid, &rank);
  MPI_Cart_coords(grid, rank, 2, mine);
  for (int axis = 0; axis < kAxes; ++axis)
    for (int side = 0; side < 2; ++side) {
      const int d = side == 0 ? -1 : 1; /* the next block along z is that of (i - 1, j - 1) */
      const int to[2] = {mine[0] + (axis == 0   ? d
                                    : axis == 2 ? -d
                                                : 0),
                         mine[1] + (axis == 1   ? d
                                    : axis == 2 ? -d
                                                : 0)};
      MPI_Cart_rank(grid, to, &neighbours[axis][side]);
    }
  const size_t face = (size_t)n * (size_t)n * kVariables, block = face * (size_t)n;
  u = room((size_t)q * block), right = room((size_t)q * block);
  for (int k = 0; k < 4 * kAxes; ++k) faces[k / 2][k % 2] = room((size_t)q * face);
  edge[0] = room(face), edge[1] = room(face);
  for (size_t k = 0; k < (size_t)q * block; ++k) u[k] = 1.0 + 0.01 * (double)((size_t)rank + k % 7);
  for (int i = 0; i < steps; ++i) {
    begin_iteration();
    step();
    end_iteration();
  }
  double sum = 0.0, all = 0.0;
  for (size_t k = 0; k < (size_t)q * block; ++k) sum += u[k];
  MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, grid);
  MPI_Barrier(grid);
  if (rank == 0) printf("bt: %d ranks, %d steps, sum %.9e\n", size, steps, all);
  MPI_Comm_free(&grid);
  timed_finalize(rank);
  return 0;
}
