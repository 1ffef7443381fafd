/* How long a program takes from MPI_Init to the end of MPI_Finalize, and between the two; printed
 * by rank 0. */
#ifndef REFRAIN_BENCH_TIMING_H
#define REFRAIN_BENCH_TIMING_H

#include <mpi.h>
#include <stdio.h>
#include <time.h>

/* An iteration, as a region for whoever wants segments from marks. */
#ifdef WITH_MARKS
#include <refrain/mark.h>
#define begin_iteration() refrain_region_begin("iteration")
#define end_iteration() refrain_region_end("iteration")
#else
#define begin_iteration() (void)0
#define end_iteration() (void)0
#endif

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
