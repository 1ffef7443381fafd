// Preloaded into the ranks of a job: how long it takes from the end of MPI_Init to the begin of
// MPI_Finalize, as `refrain predict` counts.
//
// The slowest rank's seconds go to the file SPAN_FILE, which rank 0 writes.
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double began;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int MPI_Init(int* argc, char*** argv) {
  const int result = PMPI_Init(argc, argv);
  began = now();
  return result;
}

int MPI_Finalize(void) {
  double mine = now() - began, slowest = mine;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  const char* const path = getenv("SPAN_FILE");
  FILE* const file = rank == 0 && path != NULL ? fopen(path, "w") : NULL;
  if (file != NULL) {
    fprintf(file, "%.9f\n", slowest);
    fclose(file);
  }
  return PMPI_Finalize();
}
