/* A sum over all ranks by recursive doubling, written out: in phase k with the rank that differs in
 * bit k.
 *
 *   recursive_doubling [times]      default 100; the number of ranks must be a power of two
 */
#ifndef _POSIX_C_SOURCE /* SMPI may have put a header before the program */
#define _POSIX_C_SOURCE 200809L
#endif
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

enum { kTag = 7, kCells = 4096 };

int main(int argc, char** argv) {
  double sum = 0.0, theirs = 0.0;
  int size, rank;
  MPI_Init(&argc, &argv);
  const int times = argc > 1 ? atoi(argv[1]) : 100;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if ((size & (size - 1)) != 0) MPI_Abort(MPI_COMM_WORLD, 2);
  for (int i = 0; i < times; ++i) {
    sum = rank;
    work(rank, kCells);
    for (int bit = 1; bit < size; bit *= 2) {
      MPI_Sendrecv(&sum, 1, MPI_DOUBLE, rank ^ bit, kTag, &theirs, 1, MPI_DOUBLE, rank ^ bit, kTag,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      sum += theirs;
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("recursive_doubling: %d ranks, %d times, sum %.0f\n", size, times, sum);
  MPI_Finalize();
  return 0;
}
