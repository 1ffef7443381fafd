/* Iterations whose number, lengths and bytes are known: what the command line says.
 *
 *   steps KIND ITERATIONS MICROSECONDS [ITERATION:RANK:MICROSECONDS ...]
 *
 * In each iteration every rank works so many microseconds, and those named longer by so many; then
 * all ranks come together. KIND says what they do then:
 *   halo       both neighbours by Irecv, Isend and Waitall; then Allreduce
 *   sizes      the same with 8 * (iteration + 1) bytes to each
 *   polls      the same, completed by Testall as often as it takes
 *   nested     the same four times in an inner loop
 *   single     nothing but a barrier
 *   blocks     halo; after every 10 steps rank 0 sends to rank 1, each time more messages
 *   copies     halo; the last call has two addresses, of which late ranks use the second
 *   regions    halo, each in a region "step", all in a region "solve", with calls before and behind
 *   instances  halo, each an instance of "cycle" in the region "solve"
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "refrain/mark.h"

enum { kMostExtra = 256, kMostCount = 4096 };

static int g_rank, g_size, g_extras;
static struct { int iteration, rank, us; } g_extra[kMostExtra];
static double g_in[2 * kMostCount], g_out[kMostCount];

static void spend(long us) {
  const struct timespec time = {us / 1000000, us % 1000000 * 1000};
  nanosleep(&time, NULL);
}

static void work(int iteration, long us) {
  for (int i = 0; i < g_extras; ++i)
    if (g_extra[i].iteration == iteration && g_extra[i].rank == g_rank) us += g_extra[i].us;
  spend(us);
}

static void exchange(int count, int polls) {
  MPI_Request requests[4];
  const int left = (g_rank + g_size - 1) % g_size, right = (g_rank + 1) % g_size;
  MPI_Irecv(g_in, count, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(g_in + kMostCount, count, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(g_out, count, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(g_out, count, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[3]);
  int is_done = !polls;
  if (!polls) MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  while (!is_done) {
    MPI_Testall(4, requests, &is_done, MPI_STATUSES_IGNORE);
    if (!is_done) spend(100);
  }
}

/* What a compiler makes of a call that it copies: two addresses, one place in the source. */
#define ALLREDUCE(is_copy)                                             \
  if (is_copy) {                                                       \
    MPI_Allreduce(g_in, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); \
    __asm__ volatile("nop");                                           \
  } else {                                                             \
    MPI_Allreduce(g_in, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); \
  }

static int is_late(int iteration) {
  for (int i = 0; i < g_extras; ++i)
    if (g_extra[i].iteration == iteration && g_extra[i].rank == g_rank) return 1;
  return 0;
}

static void step(const char* kind, int i) {
  double sum = 0;
  if (strcmp(kind, "single") == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    return;
  }
  const int times = strcmp(kind, "nested") == 0 ? 4 : 1;
  for (int k = 0; k < times; ++k)
    exchange(strcmp(kind, "sizes") == 0 ? i + 1 : 16, strcmp(kind, "polls") == 0);
  ALLREDUCE(strcmp(kind, "copies") == 0 && is_late(i));
}

static void hand_out(int messages) {
  if (g_rank == 0) {
    MPI_Send(&messages, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
    for (int i = 0; i < messages; ++i) MPI_Send(g_out, 1, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD);
  } else if (g_rank == 1) {
    MPI_Recv(&messages, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < messages; ++i)
      MPI_Recv(g_in, 1, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: %s KIND ITERATIONS MICROSECONDS [ITERATION:RANK:MICROSECONDS ...]\n",
            argv[0]);
    return 2;
  }
  const char* kind = argv[1];
  const int iterations = atoi(argv[2]);
  const long us = atol(argv[3]);
  for (int i = 4; i < argc && g_extras < kMostExtra; ++i)
    if (sscanf(argv[i], "%d:%d:%d", &g_extra[g_extras].iteration, &g_extra[g_extras].rank,
               &g_extra[g_extras].us) == 3)
      ++g_extras;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &g_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &g_size);
  spend(50000); /* reads its input */
  MPI_Bcast(g_out, 16, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  spend(20000); /* sets up, which is no iteration */
  const int regions = strcmp(kind, "regions") == 0, instances = strcmp(kind, "instances") == 0;
  if (regions || instances) refrain_region_begin("solve");
  for (int i = 0; i < iterations; ++i) {
    if (regions) refrain_region_begin("step");
    if (instances) refrain_instance("cycle", i);
    work(i, us);
    step(kind, i);
    if (strcmp(kind, "blocks") == 0 && i % 10 == 9) hand_out(3 + i / 10 * 2);
    if (regions) refrain_region_end("step");
  }
  if (regions || instances) refrain_region_end("solve");
  spend(30000); /* writes its results */
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
