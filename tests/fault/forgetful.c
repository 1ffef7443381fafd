// A program that changes its environment and its folder once it runs, as daemons do.
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank, number;
  MPI_Init(&argc, &argv);
  clearenv();
  if (chdir("/") != 0) return 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  number = rank;
  MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
