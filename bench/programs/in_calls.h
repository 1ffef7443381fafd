/* Put before a program by -include: each rank prints the seconds that it spends in these calls, by
 * the system's clock, when it calls MPI_Finalize. For bench/solo.py. */
#ifndef REFRAIN_BENCH_IN_CALLS_H
#define REFRAIN_BENCH_IN_CALLS_H
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static double in_calls_seconds, in_calls_began;

static double in_calls_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int in_calls_end(int result) {
  in_calls_seconds += in_calls_now() - in_calls_began;
  return result;
}

static int in_calls_print(void) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return printf("in calls: %d %.9f\n", rank, in_calls_seconds);
}

#define IN_CALLS(call) (in_calls_began = in_calls_now(), in_calls_end(call))
#define MPI_Recv(...) IN_CALLS(MPI_Recv(__VA_ARGS__))
#define MPI_Send(...) IN_CALLS(MPI_Send(__VA_ARGS__))
#define MPI_Sendrecv(...) IN_CALLS(MPI_Sendrecv(__VA_ARGS__))
#define MPI_Allreduce(...) IN_CALLS(MPI_Allreduce(__VA_ARGS__))
#define MPI_Finalize() (in_calls_print(), MPI_Finalize())

#endif
