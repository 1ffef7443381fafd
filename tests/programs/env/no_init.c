// Linked with MPI, but never calls MPI_Init: it runs as without Refrain, and leaves no trace.
#include <unistd.h>
#include "log.h"

int main(int argc, char** argv) {
  int flag = 1;
  if (argc > 5) MPI_Init(&argc, &argv);
  MPI_Initialized(&flag);
  printf("initialized: %d\n", flag);
  // A launcher ends the other ranks when one ends with this status: after they have printed.
  fflush(stdout);
  usleep(500000);
  return flag ? 1 : 5;
}
