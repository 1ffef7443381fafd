// Is compiled with -fsanitize=address. `sanitized wrong`: rank 1 receives one number more than it
// has room for.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank, sum = 0;
  const int room = 4;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* const numbers = calloc(room, sizeof(int));
  if (rank == 0) {
    const int sent[5] = {1, 2, 3, 4, 5};
    MPI_Send(sent, argc > 1 ? 5 : room, MPI_INT, 1, 7, MPI_COMM_WORLD);
  } else if (rank == 1) {
    int other[5];
    MPI_Recv(other, 5, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < (argc > 1 ? 5 : room); ++i) numbers[i] = other[i];
    for (int i = 0; i < room; ++i) sum += numbers[i];
  }
  MPI_Bcast(&sum, 1, MPI_INT, 1, MPI_COMM_WORLD);
  free(numbers);
  printf("rank %d: sum %d\n", rank, sum);
  MPI_Finalize();
  return 0;
}
