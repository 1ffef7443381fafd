// Removes the folder $REFRAIN_TEST_DIR while it runs: the trace cannot be written there any more.
#include <unistd.h>

#include "log.h"

int main(int argc, char** argv) {
  int rank, size;
  log_init(&argc, &argv, &rank, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  const char* folder = getenv("REFRAIN_TEST_DIR");
  if (rank == 0 && folder != NULL) EXPECT(rmdir(folder) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  log_finalize();
  return 0;
}
