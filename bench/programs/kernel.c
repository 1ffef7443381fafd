/* Pairs of ranks that work on arrays and exchange messages, for bench/solo.py:
 *
 *   kernel ROUNDS DOUBLES BYTES
 *
 * Rank R exchanges BYTES with rank R xor 1 behind a sweep over three arrays of DOUBLES numbers.
 * Each rank prints the seconds that it spent in these calls, by the system's clock: waiting in a
 * job, being answered where it runs alone. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 100, bytes = argc > 3 ? atoi(argv[3]) : 8;
  const size_t n = argc > 2 ? (size_t)atol(argv[2]) : 1000;
  double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b), *c = malloc(n * sizeof *c);
  char *out = malloc((size_t)bytes), *in = malloc((size_t)bytes);
  if (!a || !b || !c || !out || !in) return 1;
  /* The system gives the pages here, before the times begin: that takes as long as many sweeps. */
  for (size_t i = 0; i < n; ++i) a[i] = b[i] = c[i] = (double)i;
  for (int i = 0; i < bytes; ++i) out[i] = (char)((unsigned)rand() >> 7);
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks % 2 != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  double seconds = 0.0;
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < n; ++i) a[i] = b[i] + 0.5 * c[i];
    b[round % (int)n] += a[n / 2];
    const double began = now();
    MPI_Sendrecv(out, bytes, MPI_BYTE, rank ^ 1, 0, in, bytes, MPI_BYTE, rank ^ 1, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    seconds += now() - began;
  }
  printf("%d %.9f\n", rank, seconds);
  MPI_Finalize();
  return a[n / 2] >= 0.0 ? 0 : 1;
}
