/* Explicit hydrodynamics on a cube of blocks: up to 26 neighbours, and a time step of all ranks.
 *
 *   lulesh [steps [cells]]      default 50 and 12 (cells along a side of a block); ranks: a cube
 *
 * Each step: the least of all ranks' time steps (Allreduce), then forces are summed over all 26
 * neighbours, positions and velocities come from half of them, gradients through faces. An exchange
 * posts receives for those neighbours that there are (faces, edges, corners), sends, and waits for
 * one message after the other. Open boundaries: 27 kinds of ranks.
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

enum { kDirections = 27, kHere = 13, kFields = 3, kMostCells = 64 };
enum { kTagForce = 1024, kTagPosition = 2048, kTagGradient = 3072 };

static int side, n, rank, at[3]; /* ranks along a side; nodes along a side of the block; mine */
static double* field[kFields];
static double *out[kDirections], *in[kDirections];

static int offset(int direction, int axis) {
  return axis == 0 ? direction % 3 - 1 : axis == 1 ? direction / 3 % 3 - 1 : direction / 9 - 1;
}
static int is_face(int direction) {
  int moved = 0;
  for (int axis = 0; axis < 3; ++axis) moved += offset(direction, axis) != 0;
  return moved == 1;
}
static int neighbour(int direction) {
  int to[3];
  for (int axis = 0; axis < 3; ++axis) {
    to[axis] = at[axis] + offset(direction, axis);
    if (to[axis] < 0 || to[axis] >= side) return -1;
  }
  return direction == kHere ? -1 : (to[2] * side + to[1]) * side + to[0];
}

/* Nodes of the block's face, edge or corner in a direction. */
static int first(int direction, int axis) { return offset(direction, axis) > 0 ? n - 1 : 0; }
static int extent(int direction, int axis) { return offset(direction, axis) == 0 ? n : 1; }
static int nodes(int direction) {
  return extent(direction, 0) * extent(direction, 1) * extent(direction, 2);
}
static size_t node(int direction, int i) {
  const int x = i % extent(direction, 0), y = i / extent(direction, 0) % extent(direction, 1);
  const int z = i / extent(direction, 0) / extent(direction, 1);
  return ((size_t)(first(direction, 2) + z) * (size_t)n + (size_t)(first(direction, 1) + y)) *
             (size_t)n +
         (size_t)(first(direction, 0) + x);
}

static int pack(int direction, int fields) {
  int count = 0;
  for (int f = 0; f < fields; ++f)
    for (int i = 0; i < nodes(direction); ++i)
      out[direction][count++] = field[f][node(direction, i)];
  return count;
}
static void add(int direction, int fields, double share) {
  const double* from = in[direction];
  for (int f = 0; f < fields; ++f)
    for (int i = 0; i < nodes(direction); ++i) field[f][node(direction, i)] += share * *from++;
}

/* Receives from `from` and sends to `to`: bits of directions. */
static void exchange(int from, int to, int fields, int tag, double share) {
  MPI_Request requests[2][kDirections];
  int sent = 0;
  for (int d = 0; d < kDirections; ++d)
    if (from >> d & 1)
      MPI_Irecv(in[d], fields * nodes(d), MPI_DOUBLE, neighbour(d), tag, MPI_COMM_WORLD,
                &requests[0][d]);
  for (int d = 0; d < kDirections; ++d)
    if (to >> d & 1)
      MPI_Isend(out[d], pack(d, fields), MPI_DOUBLE, neighbour(d), tag, MPI_COMM_WORLD,
                &requests[1][sent++]);
  MPI_Waitall(sent, requests[1], MPI_STATUSES_IGNORE);
  for (int d = 0; d < kDirections; ++d) {
    if (!(from >> d & 1)) continue;
    MPI_Wait(&requests[0][d], MPI_STATUS_IGNORE);
    add(d, fields, share);
  }
}

/* Directions with a neighbour: all, those before or behind this rank, those of faces. */
static int directions(int from, int to, int only_faces) {
  int bits = 0;
  for (int d = from; d < to; ++d)
    if (neighbour(d) >= 0 && (!only_faces || is_face(d))) bits |= 1 << d;
  return bits;
}

static double least_time_step(double mine) {
  double all;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  return all;
}
static void sum_forces(void) {
  const int all = directions(0, kDirections, 0);
  exchange(all, all, 3, kTagForce, 0.02);
}
static void send_positions(void) {
  exchange(directions(kHere, kDirections, 0), directions(0, kHere, 0), 2, kTagPosition, 0.01);
}
static void send_gradients(void) {
  const int faces = directions(0, kDirections, 1);
  exchange(faces, faces, 1, kTagGradient, 0.03);
}

/* Relaxes all nodes of a field; what the block itself has to do in between. */
static void relax(int f, double by) {
  const size_t all = (size_t)n * (size_t)n * (size_t)n;
  work(rank, (double)all);
  for (size_t i = 1; i + 1 < all; ++i)
    field[f][i] += by * (field[f][i - 1] - 2.0 * field[f][i] + field[f][i + 1]);
}

static void step(double* mine) {
  const double dt = least_time_step(*mine);
  relax(0, 0.1 * dt);
  sum_forces();
  relax(1, 0.1 * dt);
  send_positions();
  relax(2, 0.1 * dt);
  send_gradients();
  *mine = 0.999 * dt * (1.0 + 1e-4 * rank);
}

int main(int argc, char** argv) {
  int size;
  timed_init(&argc, &argv);
  const int steps = argc > 1 ? atoi(argv[1]) : 50, cells = argc > 2 ? atoi(argv[2]) : 12;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  while (side * side * side < size) ++side;
  if (side * side * side != size || cells < 2 || cells > kMostCells) MPI_Abort(MPI_COMM_WORLD, 2);
  n = cells + 1;
  at[0] = rank % side, at[1] = rank / side % side, at[2] = rank / side / side;
  const size_t all = (size_t)n * (size_t)n * (size_t)n;
  for (int f = 0; f < kFields; ++f) {
    field[f] = malloc(all * sizeof(double));
    if (field[f] == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    for (size_t i = 0; i < all; ++i) field[f][i] = 1.0 + 0.1 * (double)((i + (size_t)rank) % 11);
  }
  for (int d = 0; d < kDirections; ++d) {
    out[d] = malloc((size_t)(kFields * nodes(d)) * sizeof(double));
    in[d] = malloc((size_t)(kFields * nodes(d)) * sizeof(double));
    if (out[d] == NULL || in[d] == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  double dt = 1.0;
  for (int i = 0; i < steps; ++i) {
    begin_iteration();
    step(&dt);
    end_iteration();
  }
  double sum = field[0][all / 2], total = 0.0;
  MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("lulesh: %d ranks, %d steps, dt %.9e, sum %.9e\n", size, steps, dt, total);
  timed_finalize(rank);
  return 0;
}
