/* V-cycles of a multigrid solver whose coarse levels leave ranks idle.
 *
 *   mg [cycles [cells]]      default 20 and 16 (cells along a side of a block: a power of two)
 *
 * A block of a cube that is cut along three axes for each rank; open boundaries. Levels halve the
 * cells of all blocks down to 4 along a side; three more each halve those of one axis, and every
 * second rank along it hands its half to the rank before and waits for the correction. Each
 * smoothing exchanges the faces that there are (Irecv, Isend, Waitall). So what a rank calls
 * follows from its borders on each level and from the level where it rests: 46 kinds on 64 ranks.
 */
#ifndef _POSIX_C_SOURCE /* SMPI may have put a header before the program */
#define _POSIX_C_SOURCE 200809L
#endif
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "timing.h"
#include "work.h"

enum { kAxes = 3, kMaxLevels = 12, kMaxSide = 64, kLeast = 4, kSweeps = 2, kTagDown = 6, kTagUp };

typedef struct {
  int n;           /* cells along a side of the block, which has a halo of one around it */
  int merged;      /* along which axis two blocks became one; -1: none */
  int step[kAxes]; /* how far the next block is, in ranks along each axis */
  double *u, *f;
} Level;

static Level levels[kMaxLevels];
static int level_count, last_level; /* of all; the last one that this rank takes part in */
static int dims[kAxes], at[kAxes], my_rank;
static MPI_Comm grid;
static double halo[2 * kAxes][2][kMaxSide * kMaxSide], handed[kMaxSide * kMaxSide * kMaxSide];

static size_t place(int n, int x, int y, int z) {
  return ((size_t)(z + 1) * (size_t)(n + 2) + (size_t)(y + 1)) * (size_t)(n + 2) + (size_t)(x + 1);
}
/* Cell i along `axis`, (j, k) along the others. */
static size_t along(int n, int axis, int i, int j, int k) {
  return axis == 0 ? place(n, i, j, k) : axis == 1 ? place(n, j, i, k) : place(n, j, k, i);
}

/* The rank `blocks` further along an axis; MPI_PROC_NULL beyond the border. */
static int rank_at(int axis, int blocks) {
  int to[kAxes] = {at[0], at[1], at[2]}, rank;
  to[axis] += blocks;
  if (to[axis] < 0 || to[axis] >= dims[axis]) return MPI_PROC_NULL;
  MPI_Cart_rank(grid, to, &rank);
  return rank;
}

static void receive_face(const Level* l, const int next[2 * kAxes], int side, MPI_Request* requests,
                         int* r) {
  if (next[side] != MPI_PROC_NULL)
    MPI_Irecv(halo[side][0], l->n * l->n, MPI_DOUBLE, next[side], side ^ 1, grid,
              &requests[(*r)++]);
}
static void send_face(const Level* l, const int next[2 * kAxes], int side, MPI_Request* requests,
                      int* r) {
  const int n = l->n;
  if (next[side] == MPI_PROC_NULL) return;
  for (int k = 0; k < n * n; ++k)
    halo[side][1][k] = l->u[along(n, side / 2, side % 2 == 0 ? 0 : n - 1, k % n, k / n)];
  MPI_Isend(halo[side][1], n * n, MPI_DOUBLE, next[side], side, grid, &requests[(*r)++]);
}

/* Each face by a call of its own, so that a border of the cube shows in the call paths. */
static void exchange_faces(const Level* l, const int next[2 * kAxes]) {
  MPI_Request requests[4 * kAxes];
  const int n = l->n;
  int r = 0;
  receive_face(l, next, 0, requests, &r);
  receive_face(l, next, 1, requests, &r);
  receive_face(l, next, 2, requests, &r);
  receive_face(l, next, 3, requests, &r);
  receive_face(l, next, 4, requests, &r);
  receive_face(l, next, 5, requests, &r);
  send_face(l, next, 0, requests, &r);
  send_face(l, next, 1, requests, &r);
  send_face(l, next, 2, requests, &r);
  send_face(l, next, 3, requests, &r);
  send_face(l, next, 4, requests, &r);
  send_face(l, next, 5, requests, &r);
  MPI_Waitall(r, requests, MPI_STATUSES_IGNORE);
  for (int side = 0; side < 2 * kAxes; ++side)
    for (int k = 0; next[side] != MPI_PROC_NULL && k < n * n; ++k)
      l->u[along(n, side / 2, side % 2 == 0 ? -1 : n, k % n, k / n)] = halo[side][0][k];
}

static void smooth(const Level* l, const int next[2 * kAxes]) {
  const int n = l->n;
  const size_t row = (size_t)n + 2, plane = row * row;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    exchange_faces(l, next);
    work(my_rank, (double)n * n * n);
    for (int z = 0; z < n; ++z)
      for (int y = 0; y < n; ++y)
        for (int x = 0; x < n; ++x) {
          const size_t c = place(n, x, y, z);
          const double* u = l->u + c;
          const double around = u[-1] + u[1] + *(u - row) + u[row] + *(u - plane) + u[plane];
          l->u[c] = 0.25 * l->u[c] + 0.75 * (around + l->f[c]) / 6.0;
        }
  }
}

/* The right side of the next level: means of cells, where no blocks merge. */
static void restrict_to(const Level* fine, const Level* coarse) {
  for (int z = 0; z < coarse->n; ++z)
    for (int y = 0; y < coarse->n; ++y)
      for (int x = 0; x < coarse->n; ++x) {
        double sum = 0.0;
        for (int k = 0; k < 8; ++k)
          sum += fine->f[place(fine->n, 2 * x + (k & 1), 2 * y + (k >> 1 & 1), 2 * z + (k >> 2))];
        coarse->f[place(coarse->n, x, y, z)] = sum / 8.0;
        coarse->u[place(coarse->n, x, y, z)] = 0.0;
      }
  work(my_rank, (double)coarse->n * coarse->n * coarse->n * 2);
}
static void prolong_from(const Level* fine, const Level* coarse) {
  for (int z = 0; z < fine->n; ++z)
    for (int y = 0; y < fine->n; ++y)
      for (int x = 0; x < fine->n; ++x)
        fine->u[place(fine->n, x, y, z)] += 0.5 * coarse->u[place(coarse->n, x / 2, y / 2, z / 2)];
}

static int half_of_block(const Level* fine, int axis) {
  int count = 0;
  for (int i = 0; i < fine->n / 2; ++i)
    for (int k = 0; k < fine->n * fine->n; ++k)
      handed[count++] = 0.5 * (fine->f[along(fine->n, axis, 2 * i, k % fine->n, k / fine->n)] +
                               fine->f[along(fine->n, axis, 2 * i + 1, k % fine->n, k / fine->n)]);
  return count;
}
static void take_half(const Level* coarse, int first) {
  const int n = coarse->n;
  for (int i = 0; i < n / 2; ++i)
    for (int k = 0; k < n * n; ++k) {
      const size_t to = along(n, coarse->merged, first + i, k % n, k / n);
      coarse->f[to] = handed[i * n * n + k];
      coarse->u[to] = 0.0;
    }
}
static void correct(const Level* fine, int axis) {
  const int n = fine->n;
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n * n; ++k)
      fine->u[along(n, axis, i, k % n, k / n)] += 0.5 * handed[i / 2 * n * n + k];
}
static void give_half(const Level* coarse, int first) {
  const int n = coarse->n;
  for (int i = 0; i < n / 2; ++i)
    for (int k = 0; k < n * n; ++k)
      handed[i * n * n + k] = coarse->u[along(n, coarse->merged, first + i, k % n, k / n)];
}

static void cycle(int level);

/* The next level is one where two blocks along an axis are one. */
static void visit_merged(int level) {
  const Level *l = &levels[level], *next = l + 1;
  const int axis = next->merged, count = half_of_block(l, axis);
  if (level == last_level) {
    const int keeper = rank_at(axis, -l->step[axis]);
    MPI_Send(handed, count, MPI_DOUBLE, keeper, kTagDown, grid);
    MPI_Recv(handed, count, MPI_DOUBLE, keeper, kTagUp, grid, MPI_STATUS_IGNORE);
  } else {
    const int guest = rank_at(axis, l->step[axis]);
    take_half(next, 0);
    if (guest != MPI_PROC_NULL) {
      MPI_Recv(handed, count, MPI_DOUBLE, guest, kTagDown, grid, MPI_STATUS_IGNORE);
      take_half(next, next->n / 2);
    }
    cycle(level + 1);
    if (guest != MPI_PROC_NULL) {
      give_half(next, next->n / 2);
      MPI_Send(handed, count, MPI_DOUBLE, guest, kTagUp, grid);
    }
    give_half(next, 0);
  }
  correct(l, axis);
}

static void cycle(int level) {
  const Level* l = &levels[level];
  int next[2 * kAxes];
  for (int side = 0; side < 2 * kAxes; ++side)
    next[side] = rank_at(side / 2, side % 2 == 0 ? -l->step[side / 2] : l->step[side / 2]);
  smooth(l, next);
  if (level + 1 == level_count) return;
  if (l[1].merged >= 0) {
    visit_merged(level);
  } else {
    restrict_to(l, l + 1);
    cycle(level + 1);
    prolong_from(l, l + 1);
  }
  smooth(l, next);
}

static void add_level(int n, int merged) {
  Level* l = &levels[level_count++];
  const size_t cells = (size_t)(n + 2) * (size_t)(n + 2) * (size_t)(n + 2);
  l->n = n, l->merged = merged;
  for (int axis = 0; axis < kAxes; ++axis)
    l->step[axis] = (level_count == 1 ? 1 : l[-1].step[axis]) * (axis == merged ? 2 : 1);
  l->u = calloc(cells, sizeof(double)), l->f = calloc(cells, sizeof(double));
  if (l->u == NULL || l->f == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  int takes_part = level_count == 1 || last_level == level_count - 2;
  for (int axis = 0; axis < kAxes; ++axis) takes_part &= at[axis] % l->step[axis] == 0;
  if (takes_part) last_level = level_count - 1;
}

int main(int argc, char** argv) {
  const int periods[kAxes] = {0, 0, 0};
  int size, rank;
  timed_init(&argc, &argv);
  const int cycles = argc > 1 ? atoi(argv[1]) : 20, cells = argc > 2 ? atoi(argv[2]) : 16;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (cells < kLeast || cells > kMaxSide || (cells & (cells - 1)) != 0)
    MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Dims_create(size, kAxes, dims);
  MPI_Cart_create(MPI_COMM_WORLD, kAxes, dims, periods, 0, &grid);
  MPI_Comm_rank(grid, &rank);
  my_rank = rank;
  MPI_Cart_coords(grid, rank, kAxes, at);
  for (int n = cells; n >= kLeast; n /= 2) add_level(n, -1);
  for (int axis = 0; axis < kAxes; ++axis)
    if (dims[axis] > 1) add_level(kLeast, axis);
  levels[0].f[place(cells, rank % cells, 0, cells - 1)] = 1.0 + rank;
  double sum = 0.0, all = 0.0;
  for (int i = 0; i < cycles; ++i) {
    begin_iteration();
    cycle(0);
    sum = levels[0].u[place(cells, cells / 2, cells / 2, cells / 2)];
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, grid);
    end_iteration();
  }
  MPI_Barrier(grid);
  if (rank == 0) printf("mg: %d ranks, %d cycles, sum %.9e\n", size, cycles, all);
  MPI_Comm_free(&grid);
  timed_finalize(rank);
  return 0;
}
