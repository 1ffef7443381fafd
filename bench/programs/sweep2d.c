/* Waves over a 2D mesh from its first corner to the last: receive from north and west, then send
 * south and east. Next to no computation.
 *
 *   sweep2d [sweeps]      default 300; any number of ranks
 */
#ifndef _POSIX_C_SOURCE /* SMPI may have put a header before the program */
#define _POSIX_C_SOURCE 200809L
#endif
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "timing.h"
#include "work.h"

enum { kCells = 64, kNorthSouth = 0, kWestEast = 1 };

int main(int argc, char** argv) {
  double edges[2][kCells] = {{0}};
  const int periods[2] = {0, 0};
  int size, rank, dims[2] = {0, 0}, north, south, west, east;
  MPI_Comm grid;
  timed_init(&argc, &argv);
  const int sweeps = argc > 1 ? atoi(argv[1]) : 300;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Dims_create(size, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  MPI_Comm_rank(grid, &rank);
  MPI_Cart_shift(grid, 0, 1, &north, &south);
  MPI_Cart_shift(grid, 1, 1, &west, &east);
  for (int i = 0; i < sweeps; ++i) {
    begin_iteration();
    MPI_Recv(edges[0], kCells, MPI_DOUBLE, north, kNorthSouth, grid, MPI_STATUS_IGNORE);
    MPI_Recv(edges[1], kCells, MPI_DOUBLE, west, kWestEast, grid, MPI_STATUS_IGNORE);
    edges[0][0] += edges[1][0] + 1.0;
    work(rank, kCells * kCells);
    MPI_Send(edges[0], kCells, MPI_DOUBLE, south, kNorthSouth, grid);
    MPI_Send(edges[1], kCells, MPI_DOUBLE, east, kWestEast, grid);
    end_iteration();
  }
  MPI_Barrier(grid);
  if (rank == 0) printf("sweep2d: %d ranks, %d sweeps\n", size, sweeps);
  MPI_Comm_free(&grid);
  timed_finalize(rank);
  return 0;
}
