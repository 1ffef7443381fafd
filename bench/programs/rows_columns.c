/* Communicators for the rows and columns of a 2D mesh: a broadcast along each row, a sum along each
 * column, as in a matrix product.
 *
 *   rows_columns [times]      default 100; any number of ranks
 */
#ifndef _POSIX_C_SOURCE /* SMPI may have put a header before the program */
#define _POSIX_C_SOURCE 200809L
#endif
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

enum { kCells = 64 };

int main(int argc, char** argv) {
  double block[kCells] = {0}, sums[kCells];
  int size, rank, dims[2] = {0, 0};
  MPI_Comm row, column;
  MPI_Init(&argc, &argv);
  const int times = argc > 1 ? atoi(argv[1]) : 100;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Dims_create(size, 2, dims);
  MPI_Comm_split(MPI_COMM_WORLD, rank / dims[1], rank % dims[1], &row);
  MPI_Comm_split(MPI_COMM_WORLD, rank % dims[1], rank / dims[1], &column);
  for (int i = 0; i < times; ++i) {
    work(rank, kCells * kCells);
    MPI_Bcast(block, kCells, MPI_DOUBLE, 0, row);
    MPI_Allreduce(block, sums, kCells, MPI_DOUBLE, MPI_SUM, column);
  }
  MPI_Comm_free(&row);
  MPI_Comm_free(&column);
  if (rank == 0) printf("rows_columns: %d ranks, %d times\n", size, times);
  MPI_Finalize();
  return 0;
}
