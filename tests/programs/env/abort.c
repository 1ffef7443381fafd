// One rank gives up: the job's exit status is the launcher's, with Refrain as without.
#include "calls.h"

int main(int argc, char** argv) {
  int rank, size;
  log_init(&argc, &argv, &rank, &size);
  L_Barrier(MPI_COMM_WORLD);
  if (rank == size - 1) MPI_Abort(MPI_COMM_WORLD, 9);
  L_Barrier(MPI_COMM_WORLD);
  log_finalize();
  return 0;
}
