/* A token that all ranks pass on at the same time, around and around.
 *
 *   ring [steps]      default 300; any number of ranks
 */
#ifndef _POSIX_C_SOURCE /* SMPI may have put a header before the program */
#define _POSIX_C_SOURCE 200809L
#endif
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

enum { kCells = 64, kTag = 5 };

int main(int argc, char** argv) {
  double out[kCells] = {0}, in[kCells];
  int size, rank;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  const int steps = argc > 1 ? atoi(argv[1]) : 300;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  for (int i = 0; i < steps; ++i) {
    work(rank, kCells * kCells);
    MPI_Irecv(in, kCells, MPI_DOUBLE, previous, kTag, MPI_COMM_WORLD, &request);
    MPI_Send(out, kCells, MPI_DOUBLE, next, kTag, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("ring: %d ranks, %d steps\n", size, steps);
  MPI_Finalize();
  return 0;
}
