/* A square matrix of blocks, one for each rank, transposed again and again: every rank exchanges
 * its block with the one on the other side of the diagonal.
 *
 *   transpose [times]      default 300; the number of ranks must be a square
 */
#ifndef _POSIX_C_SOURCE /* SMPI may have put a header before the program */
#define _POSIX_C_SOURCE 200809L
#endif
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

enum { kCells = 64, kTag = 3 };

int main(int argc, char** argv) {
  double mine[kCells] = {0}, theirs[kCells];
  int size, rank, side = 1;
  MPI_Init(&argc, &argv);
  const int times = argc > 1 ? atoi(argv[1]) : 300;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  while (side * side < size) ++side;
  if (side * side != size) MPI_Abort(MPI_COMM_WORLD, 2);
  const int partner = rank % side * side + rank / side;
  for (int i = 0; i < times; ++i) {
    work(rank, kCells * kCells);
    MPI_Sendrecv(mine, kCells, MPI_DOUBLE, partner, kTag, theirs, kCells, MPI_DOUBLE, partner, kTag,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("transpose: %d ranks, %d times\n", size, times);
  MPI_Finalize();
  return 0;
}
