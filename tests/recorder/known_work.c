// Ranks whose own time is known: each measures what it does outside of MPI, and writes it down.
//
//   known_work ITERATIONS MICROSECONDS LOG: LOG.RANK gets the nanoseconds from one call's return to
//   the next call, from MPI_Init to MPI_Finalize
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long long now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1000000000LL * t.tv_sec + t.tv_nsec;
}

int main(int argc, char** argv) {
  // As constructors of libraries do: the time from here to MPI_Init is no part of the run.
  int is_up = 0;
  MPI_Initialized(&is_up);
  usleep(300000);
  MPI_Init(&argc, &argv);
  long long since = now_ns(), own_ns = 0;
  if (argc < 4) return 2;
  const int iterations = atoi(argv[1]);
  const unsigned us = (unsigned)atoi(argv[2]);
  int sum = 0;
  for (int i = 0; i < iterations; ++i) {
    usleep(us);
    own_ns += now_ns() - since;
    MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    since = now_ns();
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char name[4096];
  snprintf(name, sizeof name, "%s.%d", argv[3], rank);
  FILE* log = fopen(name, "w");
  if (log == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  own_ns += now_ns() - since;
  fprintf(log, "%lld\n", own_ns);
  fclose(log);
  MPI_Finalize();
  return 0;
}
