/* Two ranks that send a message to and fro, for bench/solo.py:
 *
 *   pingpong COUNT BYTES [POINTS]      POINTS of work between the messages, 0 if it is left out */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* Everything that callgrind is to count. */
__attribute__((noinline)) double measured_piece(int rank, int count, int bytes, char* buffer,
                                                int points, double* table) {
  double sum = 0.0;
  for (int i = 0; i < count; ++i) {
    if (rank == 0) MPI_Send(buffer, bytes, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
    MPI_Recv(buffer, bytes, MPI_BYTE, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(buffer, bytes, MPI_BYTE, 0, 7, MPI_COMM_WORLD);
    for (int k = 0; k < points; ++k) sum += table[k] = 0.5 * table[k] + 1.0;
  }
  return sum;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int count = argc > 1 ? atoi(argv[1]) : 1000, bytes = argc > 2 ? atoi(argv[2]) : 8;
  const int points = argc > 3 ? atoi(argv[3]) : 0;
  char* const buffer = malloc((size_t)bytes + 1);
  double* const table = calloc((size_t)points + 1, sizeof *table);
  if (buffer == NULL || table == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  /* Numbers that do not compress. */
  for (int i = 0; i < bytes; ++i) buffer[i] = (char)((unsigned)rand() >> 7);
  measured_piece(rank, 10, bytes, buffer, points, table);
  const double sum = measured_piece(rank, count, bytes, buffer, points, table);
  MPI_Finalize();
  return sum >= 0.0 ? 0 : 1;
}
