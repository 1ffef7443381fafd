/* Multigrid V-cycles on a 3D grid that is cut into unequal blocks, and next to no computation.
 *
 *   size_multigrid [cycles]      default 20; any number of ranks; not periodic
 *
 * Every level halves the cells in each direction. A rank whose block has none left takes no part in
 * coarser levels, and its neighbours find the next rank that has some, so that coarse levels have
 * neighbours of their own. Each exchange (smoothing, residual, prolongation): Irecv and Isend with
 * up to 26 neighbours, one Waitall; the messages are as long as the blocks' faces, edges and
 * corners. After each cycle a norm is reduced.
 */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "timing.h"

enum { kLevels = 6, kSweeps = 2, kNeighbours = 26, kDimensions = 3, kBiggest = 1 << 14 };

/* How many cells the grid has in each direction: no block is as large as another. */
static const int kCells[kDimensions] = {61, 53, 47};

typedef struct {
  int neighbours;
  int rank[kNeighbours], tag_in[kNeighbours], tag_out[kNeighbours];
  int in[kNeighbours], out[kNeighbours];
} Level;

static double field[2][kNeighbours][kBiggest];

/* The first cell of block `i` of `n` on a level; blocks of a row grow towards its end. */
static int first_cell(int cells, int i, int n, int level) {
  const int weight = n * (n + 7), part = i * (i + 7);
  const int first = (int)((long)cells * part / weight);
  return (first + (1 << level) - 1) >> level;
}
static int cells_of(int d, int i, int n, int level) {
  return first_cell(kCells[d], i + 1, n, level) - first_cell(kCells[d], i, n, level);
}

/* The next block with cells in one direction; -1 beyond the border. */
static int next_block(int d, int i, int step, int n, int level) {
  for (i += step; i >= 0 && i < n; i += step)
    if (cells_of(d, i, n, level) > 0) return i;
  return -1;
}

static void find_neighbours(Level* l, int level, const int dims[], const int at[]) {
  l->neighbours = 0;
  for (int d = 0; d < kDimensions; ++d)
    if (cells_of(d, at[d], dims[d], level) == 0) return;
  for (int direction = 0; direction < 27; ++direction) {
    const int step[kDimensions] = {direction / 9 - 1, direction / 3 % 3 - 1, direction % 3 - 1};
    int to[kDimensions], cells = 1, is_inside = direction != 13;
    for (int d = 0; d < kDimensions; ++d) {
      to[d] = step[d] == 0 ? at[d] : next_block(d, at[d], step[d], dims[d], level);
      is_inside = is_inside && to[d] >= 0;
      if (step[d] == 0) cells *= cells_of(d, at[d], dims[d], level);
    }
    if (!is_inside) continue;
    const int n = l->neighbours++;
    l->rank[n] = (to[0] * dims[1] + to[1]) * dims[2] + to[2];
    l->tag_out[n] = level * 27 + direction;
    l->tag_in[n] = level * 27 + 26 - direction;
    l->in[n] = l->out[n] = cells < kBiggest ? cells : kBiggest;
  }
}

static void exchange(const Level* l, int what) {
  MPI_Request requests[2 * kNeighbours];
  MPI_Status statuses[2 * kNeighbours];
  for (int i = 0; i < l->neighbours; ++i)
    MPI_Irecv(field[0][i], l->in[i], MPI_DOUBLE, l->rank[i], l->tag_in[i] + what, MPI_COMM_WORLD,
              &requests[i]);
  for (int i = 0; i < l->neighbours; ++i)
    MPI_Isend(field[1][i], l->out[i], MPI_DOUBLE, l->rank[i], l->tag_out[i] + what, MPI_COMM_WORLD,
              &requests[l->neighbours + i]);
  MPI_Waitall(2 * l->neighbours, requests, statuses);
}

static void cycle(const Level* levels) {
  for (int level = 0; level + 1 < kLevels; ++level) {
    for (int sweep = 0; sweep < kSweeps; ++sweep) exchange(&levels[level], 0);
    exchange(&levels[level], 1000);
  }
  for (int sweep = 0; sweep < 4 * kSweeps; ++sweep) exchange(&levels[kLevels - 1], 0);
  for (int level = kLevels - 1; level-- > 0;) {
    exchange(&levels[level + 1], 2000);
    for (int sweep = 0; sweep < kSweeps; ++sweep) exchange(&levels[level], 0);
  }
}

int main(int argc, char** argv) {
  int size, rank, dims[kDimensions] = {0, 0, 0};
  static Level levels[kLevels];
  timed_init(&argc, &argv);
  const int cycles = argc > 1 ? atoi(argv[1]) : 20;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Dims_create(size, kDimensions, dims);
  const int at[kDimensions] = {rank / (dims[1] * dims[2]), rank / dims[2] % dims[1],
                               rank % dims[2]};
  for (int level = 0; level < kLevels; ++level) find_neighbours(&levels[level], level, dims, at);
  double norm = 1.0, sum = 0.0;
  for (int i = 0; i < cycles; ++i) {
    begin_iteration();
    cycle(levels);
    MPI_Allreduce(&norm, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    end_iteration();
  }
  if (rank == 0) printf("size_multigrid: %d ranks, %d cycles, sum %.1f\n", size, cycles, sum);
  timed_finalize(rank);
  return 0;
}
