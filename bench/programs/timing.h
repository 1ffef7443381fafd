/* How long a program takes from MPI_Init to the end of MPI_Finalize, and between the two; printed
 * by rank 0. */
#ifndef REFRAIN_BENCH_TIMING_H
#define REFRAIN_BENCH_TIMING_H

#include <mpi.h>
#include <stdio.h>
#include <time.h>

static double timing_begin, timing_up, timing_finalize;

static double timing_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Around MPI_Init and MPI_Finalize; the ranks should be together when they come to the latter. */
static void timed_init(int* argc, char*** argv) {
  timing_begin = timing_now();
  MPI_Init(argc, argv);
  timing_up = timing_now();
}

static void timed_finalize(int rank) {
  timing_finalize = timing_now();
  MPI_Finalize();
  const double end = timing_now();
  if (rank == 0)
    printf("seconds %.6f finalize %.6f running %.6f\n", end - timing_begin, end - timing_finalize,
           timing_finalize - timing_up);
}

#endif
