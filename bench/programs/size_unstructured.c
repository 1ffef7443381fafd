/* Conjugate gradients on an unstructured mesh: a rank has 26 neighbours, some have fewer, none of
 * them where another rank has one, and next to no computation.
 *
 *   size_unstructured [iterations]      default 30; at least 27 ranks
 *
 * Each iteration: an Irecv and a send for each neighbour, of a length of its own, one Waitall, and
 * two Allreduce. Long messages are sent with Issend, others with Isend, so that no rank does what
 * another one does.
 */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "timing.h"

enum { kOffsets = 13, kNeighbours = 2 * kOffsets, kShortest = 40, kLongest = 4000, kLong = 2000 };

static double field[2][kNeighbours][kLongest];
static int neighbours, neighbour[kNeighbours], length[kNeighbours];

static unsigned mixed(unsigned x) {
  x *= 0x9e3779b1u;
  x ^= x >> 15;
  x *= 0x85ebca77u;
  return x ^ x >> 13;
}

/* A permutation of the ranks, the same on all of them. */
static int* shuffled(int size) {
  int* const order = malloc((size_t)size * sizeof *order);
  if (order == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int i = 0; i < size; ++i) order[i] = i;
  for (int i = size - 1; i > 0; --i) {
    const int j = (int)(mixed((unsigned)i) % (unsigned)(i + 1)), kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  }
  return order;
}

/* Parts of the mesh stand on a ring; those at most kOffsets away touch, but for one in 16. */
static void find_neighbours(int rank, int size) {
  int* const order = shuffled(size);
  int place = 0;
  while (order[place] != rank) ++place;
  for (int i = 0; i < kNeighbours; ++i) {
    const int offset = i < kOffsets ? i + 1 : kOffsets - i - 1;
    const int other = order[(place + offset + size) % size];
    const unsigned low = (unsigned)(rank < other ? rank : other),
                   high = (unsigned)(rank < other ? other : rank), pair = mixed(low * 4099u + high);
    if (pair % 16 == 0) continue;
    neighbour[neighbours] = other;
    length[neighbours++] = kShortest + (int)(pair / 16 % (kLongest - kShortest));
  }
  free(order);
}

static void exchange(void) {
  MPI_Request requests[2 * kNeighbours];
  MPI_Status statuses[2 * kNeighbours];
  for (int i = 0; i < neighbours; ++i)
    MPI_Irecv(field[0][i], length[i], MPI_DOUBLE, neighbour[i], 7, MPI_COMM_WORLD, &requests[i]);
  for (int i = 0; i < neighbours; ++i) {
    if (length[i] < kLong)
      MPI_Isend(field[1][i], length[i], MPI_DOUBLE, neighbour[i], 7, MPI_COMM_WORLD,
                &requests[neighbours + i]);
    else
      MPI_Issend(field[1][i], length[i], MPI_DOUBLE, neighbour[i], 7, MPI_COMM_WORLD,
                 &requests[neighbours + i]);
  }
  MPI_Waitall(2 * neighbours, requests, statuses);
}

int main(int argc, char** argv) {
  int size, rank;
  timed_init(&argc, &argv);
  const int iterations = argc > 1 ? atoi(argv[1]) : 30;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (size <= kNeighbours) {
    fprintf(stderr, "size_unstructured: more than %d ranks, please\n", kNeighbours);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  find_neighbours(rank, size);
  double own = 1.0, sum = 0.0;
  for (int i = 0; i < iterations; ++i) {
    begin_iteration();
    exchange();
    MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    end_iteration();
  }
  if (rank == 0)
    printf("size_unstructured: %d ranks, %d iterations, %.1f\n", size, iterations, sum);
  timed_finalize(rank);
  return 0;
}
