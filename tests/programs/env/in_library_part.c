// The shared library of in_library.c: all MPI calls are here.
#include "calls.h"

int run_in_library(int argc, char** argv);

// Functions of its own with names that MPI libraries have for Fortran, and not with its parameters,
// as R's Rmpi has them.
int mpi_comm_rank(int number, const char* text);
int mpi_allreduce(MPI_Comm comm, int more);
int MPI_INIT(int number);

int mpi_comm_rank(int number, const char* text) { return number + (int)strlen(text); }

int mpi_allreduce(MPI_Comm comm, int more) {
  int sum;
  L_Barrier(comm);
  L_Allreduce(&more, &sum, 1, MPI_INT, MPI_SUM, comm);
  return sum;
}

int MPI_INIT(int number) { return 2 * number; }

int run_in_library(int argc, char** argv) {
  int rank, size, sum, one = 1;
  log_init(&argc, &argv, &rank, &size);
  L_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  L_Barrier(MPI_COMM_WORLD);
  const int names = mpi_comm_rank(MPI_INIT(20), "ab") + mpi_allreduce(MPI_COMM_WORLD, 3);
  log_finalize();
  printf("rank %d of %d done in a library\n", rank, size);
  return sum == size && names == 42 + 3 * size ? 0 : 1;
}
