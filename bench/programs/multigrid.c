/* V-cycles of a multigrid solver for Poisson's equation, on a periodic cube of blocks.
 *
 *   multigrid [cycles [cells]]      default 40 and 32 (cells along a side of a block, a power of
 * two)
 *
 * Every smoothing, residual, restriction and prolongation of every level fills the six halos of a
 * block, axis by axis: two Irecv, two Send, a Waitall. A norm (Allreduce) ends a cycle. So a call
 * comes from some dozens of paths, and a deeper level stands deeper on the stack.
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "timing.h"

enum { kAxes = 3, kMaxLevels = 10, kMaxFace = 130 * 130 };

typedef struct {
  int n; /* cells along a side; a layer of halo around them */
  double *u, *f, *r;
} Level;

static Level levels[kMaxLevels];
static int level_count, neighbours[kAxes][2];
static MPI_Comm grid;
static double faces[4][kMaxFace];

static size_t place(const Level* l, int x, int y, int z) {
  const size_t side = (size_t)l->n + 2;
  return ((size_t)z * side + (size_t)y) * side + (size_t)x;
}

/* The place of cell (i, j) of the layer at `depth` along an axis. */
static size_t on_face(const Level* l, int axis, int depth, int i, int j) {
  return axis == 0   ? place(l, depth, i, j)
         : axis == 1 ? place(l, i, depth, j)
                     : place(l, i, j, depth);
}

static int pack(const Level* l, const double* field, int axis, int depth, double* to) {
  int n = 0;
  for (int j = 0; j < l->n + 2; ++j)
    for (int i = 0; i < l->n + 2; ++i) to[n++] = field[on_face(l, axis, depth, i, j)];
  return n;
}

static void unpack(const Level* l, double* field, int axis, int depth, const double* from) {
  int n = 0;
  for (int j = 0; j < l->n + 2; ++j)
    for (int i = 0; i < l->n + 2; ++i) field[on_face(l, axis, depth, i, j)] = from[n++];
}

static void send_face(const Level* l, const double* field, int axis, int side) {
  const int count = pack(l, field, axis, side == 0 ? 1 : l->n, faces[side]);
  MPI_Send(faces[side], count, MPI_DOUBLE, neighbours[axis][side], 2 * axis + side, grid);
}

static void fill_halos(const Level* l, double* field) {
  const int count = (l->n + 2) * (l->n + 2);
  for (int axis = 0; axis < kAxes; ++axis) {
    MPI_Request requests[2];
    for (int side = 0; side < 2; ++side)
      MPI_Irecv(faces[2 + side], count, MPI_DOUBLE, neighbours[axis][side], 2 * axis + 1 - side,
                grid, &requests[side]);
    for (int side = 0; side < 2; ++side) send_face(l, field, axis, side);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int side = 0; side < 2; ++side)
      unpack(l, field, axis, side == 0 ? 0 : l->n + 1, faces[2 + side]);
  }
}

static double around(const Level* l, const double* u, size_t at) {
  const size_t row = (size_t)l->n + 2;
  return u[at - 1] + u[at + 1] + u[at - row] + u[at + row] + u[at - row * row] + u[at + row * row];
}

static void smooth(const Level* l) {
  for (int z = 1; z <= l->n; ++z)
    for (int y = 1; y <= l->n; ++y)
      for (int x = 1; x <= l->n; ++x) {
        const size_t at = place(l, x, y, z);
        l->u[at] += 0.8 * ((around(l, l->u, at) - l->f[at]) / 6.0 - l->u[at]);
      }
  fill_halos(l, l->u);
}

static void residual(const Level* l) {
  for (int z = 1; z <= l->n; ++z)
    for (int y = 1; y <= l->n; ++y)
      for (int x = 1; x <= l->n; ++x) {
        const size_t at = place(l, x, y, z);
        l->r[at] = l->f[at] - around(l, l->u, at) + 6.0 * l->u[at];
      }
  fill_halos(l, l->r);
}

static void restrict_to(const Level* fine, const Level* coarse) {
  for (int z = 1; z <= coarse->n; ++z)
    for (int y = 1; y <= coarse->n; ++y)
      for (int x = 1; x <= coarse->n; ++x) {
        double sum = 0.0;
        for (int k = 0; k < 8; ++k)
          sum += fine->r[place(fine, 2 * x - (k & 1), 2 * y - (k >> 1 & 1), 2 * z - (k >> 2))];
        coarse->f[place(coarse, x, y, z)] = 0.25 * sum;
        coarse->u[place(coarse, x, y, z)] = 0.0;
      }
  fill_halos(coarse, coarse->f);
  fill_halos(coarse, coarse->u);
}

static void prolong_from(const Level* fine, const Level* coarse) {
  for (int z = 1; z <= fine->n; ++z)
    for (int y = 1; y <= fine->n; ++y)
      for (int x = 1; x <= fine->n; ++x)
        fine->u[place(fine, x, y, z)] +=
            coarse->u[place(coarse, (x + 1) / 2, (y + 1) / 2, (z + 1) / 2)];
  fill_halos(fine, fine->u);
}

static void cycle(int level) {
  const Level* const l = &levels[level];
  smooth(l);
  if (level + 1 == level_count) {
    for (int i = 0; i < 4; ++i) smooth(l);
    return;
  }
  residual(l);
  restrict_to(l, l + 1);
  cycle(level + 1);
  prolong_from(l, l + 1);
  smooth(l);
}

static double norm(const Level* l) {
  double sum = 0.0, all = 0.0;
  residual(l);
  for (int z = 1; z <= l->n; ++z)
    for (int y = 1; y <= l->n; ++y)
      for (int x = 1; x <= l->n; ++x) sum += l->r[place(l, x, y, z)] * l->r[place(l, x, y, z)];
  MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, grid);
  return sqrt(all);
}

static void make_levels(int cells, int rank) {
  for (int n = cells; n >= 2 && level_count < kMaxLevels; n /= 2) {
    Level* const l = &levels[level_count++];
    const size_t size = (size_t)(n + 2) * (size_t)(n + 2) * (size_t)(n + 2);
    l->n = n;
    l->u = calloc(size, sizeof(double));
    l->f = calloc(size, sizeof(double));
    l->r = calloc(size, sizeof(double));
    if (l->u == NULL || l->f == NULL || l->r == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  /* A charge on every rank; their sum is nothing. */
  levels[0].f[place(&levels[0], 1 + rank % cells, 1, 1)] = 1.0;
  levels[0].f[place(&levels[0], 1, 1 + rank % cells, cells)] = -1.0;
}

int main(int argc, char** argv) {
  const int periods[kAxes] = {1, 1, 1};
  int size, rank, dims[kAxes] = {0, 0, 0};
  timed_init(&argc, &argv);
  const int cycles = argc > 1 ? atoi(argv[1]) : 40, cells = argc > 2 ? atoi(argv[2]) : 32;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Dims_create(size, kAxes, dims);
  MPI_Cart_create(MPI_COMM_WORLD, kAxes, dims, periods, 0, &grid);
  MPI_Comm_rank(grid, &rank);
  if (cells < 2 || cells > 128 || (cells & (cells - 1)) != 0) MPI_Abort(MPI_COMM_WORLD, 2);
  for (int axis = 0; axis < kAxes; ++axis)
    MPI_Cart_shift(grid, axis, 1, &neighbours[axis][0], &neighbours[axis][1]);
  make_levels(cells, rank);
  fill_halos(&levels[0], levels[0].f);
  double last = 0.0;
  for (int i = 0; i < cycles; ++i) {
    begin_iteration();
    cycle(0);
    last = norm(&levels[0]);
    end_iteration();
  }
  MPI_Barrier(grid);
  if (rank == 0) printf("multigrid: %d ranks, %d cycles, residual %.3e\n", size, cycles, last);
  MPI_Comm_free(&grid);
  timed_finalize(rank);
  return 0;
}
