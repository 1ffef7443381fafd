// The shared library of in_library.c: all MPI calls are here.
#include "calls.h"

int run_in_library(int argc, char** argv);

int run_in_library(int argc, char** argv) {
  int rank, size, sum, one = 1;
  log_init(&argc, &argv, &rank, &size);
  L_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  L_Barrier(MPI_COMM_WORLD);
  log_finalize();
  printf("rank %d of %d done in a library\n", rank, size);
  return sum == size ? 0 : 1;
}
