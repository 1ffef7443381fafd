/* A halo exchange on a grid, with what a later version of it may have changed.
 *
 *   changes ITERATIONS COUNT [abort]
 *
 * Compiled with -DLATER_VERSION it has a broadcast more in its loop, and other lines above it.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#ifdef LATER_VERSION
#include <stdio.h>

static void check(int count) {
  if (count <= 0) fprintf(stderr, "changes: there is nothing to exchange\n");
}
#endif

enum { kSides = 4, kMost = 4096 };
static double edges[2][kSides][kMost];

static void exchange(const int neighbours[kSides], int count, MPI_Comm grid) {
  MPI_Request requests[2 * kSides];
  for (int side = 0; side < kSides; ++side)
    MPI_Irecv(edges[0][side], count, MPI_DOUBLE, neighbours[side], side ^ 1, grid, &requests[side]);
  for (int side = 0; side < kSides; ++side)
    MPI_Isend(edges[1][side], count, MPI_DOUBLE, neighbours[side], side, grid,
              &requests[kSides + side]);
  MPI_Waitall(2 * kSides, requests, MPI_STATUSES_IGNORE);
}

/* As many calls of MPI_Test as there is time for. */
static void poll(int rank, int size, MPI_Comm grid) {
  MPI_Request request;
  int flag = 0, token = 0;
  MPI_Irecv(&token, 1, MPI_INT, MPI_ANY_SOURCE, 9, grid, &request);
  MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 9, grid);
  while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  int size, rank, dims[2] = {0, 0}, neighbours[kSides];
  const int periods[2] = {1, 1};
  MPI_Comm grid;
  MPI_Init(&argc, &argv);
  const int iterations = atoi(argv[1]), count = atoi(argv[2]);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Dims_create(size, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  MPI_Comm_rank(grid, &rank);
  MPI_Cart_shift(grid, 0, 1, &neighbours[0], &neighbours[1]);
  MPI_Cart_shift(grid, 1, 1, &neighbours[2], &neighbours[3]);
#ifdef LATER_VERSION
  check(count);
#endif
  for (int i = 0; i < iterations; ++i) {
    double sum = 0;
    exchange(neighbours, count, grid);
#ifdef LATER_VERSION
    MPI_Bcast(edges[0][0], 1, MPI_DOUBLE, 0, grid);
#endif
    MPI_Allreduce(edges[0][0], &sum, 1, MPI_DOUBLE, MPI_SUM, grid);
  }
  poll(rank, size, grid);
  if (argc > 3 && strcmp(argv[3], "abort") == 0 && rank == 0) MPI_Abort(grid, 3);
  MPI_Barrier(grid);
  MPI_Comm_free(&grid);
  MPI_Finalize();
  return 0;
}
