/* One rank of several in a process pauses its own recording, and nobody else's. */
#include <mpi.h>

#include "refrain/mark.h"

enum { kBarriers = 5 };

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) refrain_pause();
  for (int i = 0; i < kBarriers; ++i) MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) refrain_resume();
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
