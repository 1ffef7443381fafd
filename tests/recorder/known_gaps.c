// Ranks whose time between calls is known: before each call of one place they work for so long at
// least, and they measure how long it was.
//
//   known_gaps ITERATIONS MICROSECONDS LOG [irregular|abort]: LOG.RANK gets a line of nanoseconds
//   for each place: what there was between the return of the call before and the call, all
//   iterations together, as measured, and how often. `irregular`: no two of the messages to itself
//   are alike. `abort`: ends with MPI_Abort once the file is there.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kBarrier, kAllreduce, kSendrecv, kPlaces };
static const char* const kNames[kPlaces] = {"MPI_Barrier", "MPI_Allreduce", "MPI_Sendrecv"};
static long long spent_ns[kPlaces], since;
static int times[kPlaces];

static long long now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1000000000LL * t.tv_sec + t.tv_nsec;
}

// Work for so long, at least, before a call of that place.
static void work(int place, unsigned us) {
  usleep(us);
  spent_ns[place] += now_ns() - since;
  ++times[place];
}

// An operation that calls MPI: inside of MPI_Allreduce.
static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  int initialized = 0;
  (void)type;
  MPI_Initialized(&initialized);
  for (int i = 0; i < *count; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 4) return 2;
  const int iterations = atoi(argv[1]);
  const unsigned us = (unsigned)atoi(argv[2]);
  const int irregular = argc > 4 && strcmp(argv[4], "irregular") == 0;
  const int aborts = argc > 4 && strcmp(argv[4], "abort") == 0;
  MPI_Op op;
  MPI_Op_create(add, 1, &op);
  int rank = 0, sum = 0, got = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  since = now_ns();
  for (int i = 0; i < iterations; ++i) {
    work(kBarrier, us);
    MPI_Barrier(MPI_COMM_WORLD);
    since = now_ns();
    work(kAllreduce, 2 * us);
    MPI_Allreduce(&i, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    since = now_ns();
    for (int k = 0; k < (irregular ? 200 : 1); ++k) {
      work(kSendrecv, irregular ? us / 100 : us);
      const int tag = irregular ? 1000 * i + k : 7;
      MPI_Sendrecv(&i, 1, MPI_INT, rank, tag, &got, 1, MPI_INT, rank, MPI_ANY_TAG, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
      since = now_ns();
    }
  }
  char name[4096];
  snprintf(name, sizeof name, "%s.%d", argv[3], rank);
  FILE* log = fopen(name, "w");
  if (log == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int p = 0; p < kPlaces; ++p) fprintf(log, "%s %lld %d\n", kNames[p], spent_ns[p], times[p]);
  fclose(log);
  MPI_Barrier(MPI_COMM_SELF);
  if (aborts) {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  MPI_Op_free(&op);
  MPI_Finalize();
  return 0;
}
