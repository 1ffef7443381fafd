/* Adaptive refinement of a 2D mesh of blocks around a front that moves, and next to no computation.
 *
 *   size_refinement [steps]      default 60; any number of ranks
 *
 * A leaf of the quadtree is a block; leaves in Morton order are dealt out evenly. Each step fills
 * the halos of all blocks that touch another rank's (Irecv, Isend, one Waitall) and reduces the
 * length of the next one; every fifth step the tree is made anew and blocks that have another owner
 * move there. So partners and lengths of messages hold for five steps.
 */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "timing.h"

enum {
  kRoots = 4, /* blocks along a side of the coarsest mesh */
  kLevels = 4,
  kSide = kRoots << (kLevels - 1), /* of the finest mesh that could be */
  kMost = kSide * kSide,
  kCells = 16, /* along a side of a block */
  kStepsPerTree = 5,
  kRequests = 4096
};

typedef struct {
  int x, y, level, owner; /* x, y in finest blocks */
} Block;

static Block block[kMost], before[kMost];
static int blocks, blocks_before;
static int leaf_at[kSide][kSide];
static double halo[2][kRequests][kCells], moved[2][kCells * kCells];
static MPI_Request requests[kRequests];
static MPI_Status statuses[kRequests];
static int request_count;

/* Along a side, in finest blocks. */
static int extent_of(int level) { return kSide / kRoots >> level; }

/* Whether the front, a circle that grows, goes through a square. */
static int is_at_front(int x, int y, int extent, int radius) {
  const long far_x = x + extent, far_y = y + extent, square = (long)radius * radius;
  return (long)x * x + (long)y * y <= square && far_x * far_x + far_y * far_y >= square;
}

static void refine(int x, int y, int level, int radius) {
  const int extent = extent_of(level);
  if (level + 1 < kLevels && is_at_front(x, y, extent, radius)) {
    for (int i = 0; i < 4; ++i)
      refine(x + i % 2 * extent / 2, y + i / 2 * extent / 2, level + 1, radius);
    return;
  }
  for (int i = 0; i < extent; ++i)
    for (int j = 0; j < extent; ++j) leaf_at[x + i][y + j] = blocks;
  block[blocks++] = (Block){x, y, level, 0};
}

static void make_tree(int step, int size) {
  blocks = 0;
  const int radius = kSide / 4 + step / kStepsPerTree * 2;
  for (int x = 0; x < kRoots; ++x)
    for (int y = 0; y < kRoots; ++y) refine(x * kSide / kRoots, y * kSide / kRoots, 0, radius);
  for (int i = 0; i < blocks; ++i) block[i].owner = (int)((long)i * size / blocks);
}

/* The owner of a block's first corner in the tree before. */
static int owner_before(const Block* b) {
  for (int i = 0; i < blocks_before; ++i) {
    const int extent = extent_of(before[i].level);
    if (b->x >= before[i].x && b->x < before[i].x + extent && b->y >= before[i].y &&
        b->y < before[i].y + extent)
      return before[i].owner;
  }
  return -1;
}

static void wait_for_all(void) {
  MPI_Waitall(request_count, requests, statuses);
  request_count = 0;
}

static void move_blocks(int rank) {
  for (int i = 0; i < blocks; ++i) {
    const int from = owner_before(&block[i]), to = block[i].owner;
    if (from < 0 || from == to || request_count + 2 > kRequests) continue;
    if (to == rank)
      MPI_Irecv(moved[0], kCells * kCells, MPI_DOUBLE, from, 1000 + i, MPI_COMM_WORLD,
                &requests[request_count++]);
    if (from == rank)
      MPI_Isend(moved[1], kCells * kCells, MPI_DOUBLE, to, 1000 + i, MPI_COMM_WORLD,
                &requests[request_count++]);
  }
  wait_for_all();
}

/* Each side of a block that touches a block of another rank is a message each way. */
static void exchange_side(int i, int side, int rank) {
  const Block* const b = &block[i];
  const int extent = extent_of(b->level);
  const int x = b->x + (side == 0 ? -1 : side == 1 ? extent : 0);
  const int y = b->y + (side == 2 ? -1 : side == 3 ? extent : 0);
  if (x < 0 || y < 0 || x >= kSide || y >= kSide) return;
  const int other = leaf_at[x][y];
  const Block* const o = &block[other];
  if (o->owner == b->owner || request_count + 2 > kRequests) return;
  const int finer = o->level > b->level ? o->level - b->level : 0;
  const int cells = kCells >> finer, tag = 4 * i + side;
  if (b->owner == rank)
    MPI_Irecv(halo[0][request_count], cells, MPI_DOUBLE, o->owner, tag, MPI_COMM_WORLD,
              &requests[request_count]),
        ++request_count;
  if (o->owner == rank)
    MPI_Isend(halo[1][request_count], cells, MPI_DOUBLE, b->owner, tag, MPI_COMM_WORLD,
              &requests[request_count]),
        ++request_count;
}

int main(int argc, char** argv) {
  int size, rank;
  timed_init(&argc, &argv);
  const int steps = argc > 1 ? atoi(argv[1]) : 60;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double own = 1.0, least = 0.0;
  for (int step = 0; step < steps; ++step) {
    begin_iteration();
    if (step % kStepsPerTree == 0) {
      make_tree(step, size);
      if (step > 0) move_blocks(rank);
      for (int i = 0; i < blocks; ++i) before[i] = block[i];
      blocks_before = blocks;
    }
    for (int i = 0; i < blocks; ++i)
      for (int side = 0; side < 4; ++side) exchange_side(i, side, rank);
    wait_for_all();
    MPI_Allreduce(&own, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    end_iteration();
  }
  if (rank == 0)
    printf("size_refinement: %d ranks, %d steps, %d blocks, %.1f\n", size, steps, blocks, least);
  timed_finalize(rank);
  return 0;
}
