/* Work that takes a known time, for programs whose waiting is known by construction.
 *
 * Under SMPI (compiled with smpicc and -DREFRAIN_TRENDS_SMPI) it takes simulated time, so that a
 * run is the same every time. Elsewhere it keeps the processor busy. Each rank's work varies a
 * little, as on a real machine, by numbers that are the same in every run.
 *
 * With REFRAIN_TRENDS_LOG each rank writes what it has worked into that file and its rank: a line
 * of nanoseconds for each iteration.
 *
 * After the APART Test Suite that Mohror's thesis takes its cases from (section 5.1.1).
 */
#ifndef REFRAIN_TRENDS_WORK_H
#define REFRAIN_TRENDS_WORK_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "refrain/mark.h"

enum { kTag = 17 };

static int g_rank, g_size;
static uint64_t g_noise;
static double g_worked; /* seconds of work so far: the clock of the interference */
static double g_spent;  /* seconds of this iteration, interruptions included */
static FILE* g_log;

/* 0 .. 1 */
static inline double noise(void) {
  g_noise = g_noise * 6364136223846793005u + 1442695040888963407u;
  return (double)(g_noise >> 11) / 9007199254740992.0;
}

static inline void spend(double seconds) {
  g_spent += seconds;
#ifdef REFRAIN_TRENDS_SMPI
  const struct timespec time = {0, (long)(1e9 * seconds)}; /* less than a second */
  nanosleep(&time, NULL);
#else
  struct timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((double)(now.tv_sec - begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - begin.tv_nsec) <
           seconds);
#endif
}

/* The same work every time, but for 1 % up or down. */
static inline void do_work(double seconds) {
  seconds *= 0.99 + 0.02 * noise();
  g_worked += seconds;
  spend(seconds);
}

static inline void begin(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &g_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &g_size);
  g_noise = 0x9e3779b97f4a7c15u * (uint64_t)(g_rank + 1);
  noise();
  const char* log = getenv("REFRAIN_TRENDS_LOG");
  if (log == NULL) return;
  char path[4096];
  snprintf(path, sizeof path, "%s.%d", log, g_rank);
  g_log = fopen(path, "w");
}

/* The iterations of a case: each is a segment. */
static inline void repeat(const char* name, int iterations, void (*iteration)(int)) {
  for (int i = 0; i < iterations; ++i) {
    refrain_region_begin(name);
    iteration(i);
    refrain_region_end(name);
    if (g_log != NULL) fprintf(g_log, "%.0f\n", 1e9 * g_spent);
    g_spent = 0;
  }
  if (g_log != NULL) fclose(g_log);
}

struct trend_case {
  const char* name;
  void (*iteration)(int);
};

/* Argument 1 names the case, argument 2 says how many iterations. */
static inline int run_case(int argc, char** argv, const struct trend_case* cases, size_t count,
                           int iterations) {
  for (size_t i = 0; i < count; ++i) {
    if (argc < 2 || strcmp(argv[1], cases[i].name) != 0) continue;
    if (argc > 2) iterations = atoi(argv[2]);
    repeat(cases[i].name, iterations, cases[i].iteration);
    return 0;
  }
  if (g_rank == 0) fprintf(stderr, "usage: %s CASE [ITERATIONS]\n", argv[0]);
  return 2;
}

#endif
