/* Hydrodynamics on an unstructured mesh, as far as its messages go: every rank has a number of
 * neighbours of its own, and shares another number of points with each.
 *
 *   unstructured [steps [points]]      default 150 and 20000 (points of a rank)
 *
 * A step has a predictor and a corrector. Each sums the forces and masses of shared points (Irecv,
 * Isend, Waitall over the neighbours), hands on the values of one more layer of cells (Irecv, Send,
 * Waitany), and they end with the smallest time step of all (Allreduce).
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "timing.h"

enum { kMaxNeighbours = 64, kMaxShared = 400, kFields = 3 };

typedef struct {
  int rank, shared;
  int points[kMaxShared];
  double out[kFields * kMaxShared], in[kFields * kMaxShared];
} Neighbour;

static Neighbour neighbours[kMaxNeighbours];
static int neighbour_count, points;
static double *mass, *force, *velocity, *position;

/* The same on both sides of an edge of the graph of ranks. */
static unsigned mixed(unsigned a, unsigned b) {
  unsigned x = (a < b ? a * 7919u + b : b * 7919u + a) + 12345u;
  x = (x ^ x >> 15) * 0x2c1b3c6du;
  x = (x ^ x >> 12) * 0x297a2d39u;
  return x ^ x >> 15;
}

static void find_neighbours(int rank, int size) {
  for (int other = 0; other < size && neighbour_count < kMaxNeighbours; ++other) {
    const unsigned m = mixed((unsigned)rank, (unsigned)other);
    const int distance = abs(rank - other);
    if (other == rank || (distance != 1 && m % 3 != 0)) continue;
    Neighbour* const it = &neighbours[neighbour_count++];
    it->rank = other;
    it->shared = 8 + (int)(m / 3 % (kMaxShared - 8));
    for (int i = 0; i < it->shared; ++i)
      it->points[i] = (int)((m + 31u * (unsigned)i) % (unsigned)points);
  }
}

static int gather(Neighbour* it, const double* const* fields, int count) {
  int n = 0;
  for (int f = 0; f < count; ++f)
    for (int i = 0; i < it->shared; ++i) it->out[n++] = fields[f][it->points[i]];
  return n;
}

static void add_to(const Neighbour* it, double* const* fields, int count) {
  int n = 0;
  for (int f = 0; f < count; ++f)
    for (int i = 0; i < it->shared; ++i) fields[f][it->points[i]] += it->in[n++];
}

static void post_receives(MPI_Request* requests, int fields, int tag) {
  for (int i = 0; i < neighbour_count; ++i)
    MPI_Irecv(neighbours[i].in, fields * neighbours[i].shared, MPI_DOUBLE, neighbours[i].rank, tag,
              MPI_COMM_WORLD, &requests[i]);
}

static void sum_shared(double* const* fields, int count, int tag) {
  MPI_Request requests[2 * kMaxNeighbours];
  post_receives(requests, count, tag);
  for (int i = 0; i < neighbour_count; ++i)
    MPI_Isend(neighbours[i].out, gather(&neighbours[i], (const double* const*)fields, count),
              MPI_DOUBLE, neighbours[i].rank, tag, MPI_COMM_WORLD, &requests[neighbour_count + i]);
  MPI_Waitall(2 * neighbour_count, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < neighbour_count; ++i) add_to(&neighbours[i], fields, count);
}

static void hand_on(double* field, int tag) {
  MPI_Request requests[kMaxNeighbours];
  const double* const fields[1] = {field};
  post_receives(requests, 1, tag);
  for (int i = 0; i < neighbour_count; ++i) {
    const int count = gather(&neighbours[i], fields, 1);
    MPI_Send(neighbours[i].out, count, MPI_DOUBLE, neighbours[i].rank, tag, MPI_COMM_WORLD);
  }
  for (int done = 0; done < neighbour_count; ++done) {
    int which;
    MPI_Waitany(neighbour_count, requests, &which, MPI_STATUS_IGNORE);
    for (int i = 0; i < neighbours[which].shared; ++i)
      field[neighbours[which].points[i]] = neighbours[which].in[i];
  }
}

static void forces(double scale) {
  double* const summed[2] = {mass, force};
  for (int i = 0; i < points; ++i) {
    mass[i] = 1.0 + 0.1 * position[i] * position[i];
    force[i] =
        scale * (position[(i + 1) % points] - position[i]) / sqrt(1.0 + velocity[i] * velocity[i]);
  }
  sum_shared(summed, 2, 1);
}

static void advance(double by) {
  for (int i = 0; i < points; ++i) {
    velocity[i] += by * force[i] / mass[i];
    position[i] += by * velocity[i];
  }
  hand_on(velocity, 2);
  hand_on(position, 3);
}

static void predictor(double by) {
  forces(1.0);
  advance(0.5 * by);
}

static void corrector(double by) {
  double* const summed[kFields] = {mass, force, velocity};
  forces(0.5);
  advance(by);
  sum_shared(summed, kFields, 4);
  for (int i = 0; i < points; ++i) velocity[i] = 0.01 * velocity[i];
}

static double time_step(void) {
  double fastest = 1.0, all = 1.0;
  for (int i = 0; i < points; ++i) fastest = fmin(fastest, 1.0 / (1.0 + fabs(velocity[i])));
  MPI_Allreduce(&fastest, &all, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  return 0.01 * all;
}

int main(int argc, char** argv) {
  int size, rank;
  timed_init(&argc, &argv);
  const int steps = argc > 1 ? atoi(argv[1]) : 150;
  points = argc > 2 ? atoi(argv[2]) : 20000;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (points < 1) MPI_Abort(MPI_COMM_WORLD, 2);
  double* const room = calloc(4 * (size_t)points, sizeof(double));
  if (room == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  mass = room, force = mass + points, velocity = force + points, position = velocity + points;
  for (int i = 0; i < points; ++i) position[i] = (double)((i + rank) % 17) / 17.0;
  find_neighbours(rank, size);
  double by = 0.01;
  for (int i = 0; i < steps; ++i) {
    begin_iteration();
    predictor(by);
    corrector(by);
    by = time_step();
    end_iteration();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("unstructured: %d ranks, %d steps, time step %.3e\n", size, steps, by);
  free(room);
  timed_finalize(rank);
  return 0;
}
