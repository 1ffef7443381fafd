// Linked with MPI, but never calls MPI_Init: it runs as without Refrain, and leaves no trace.
#include "log.h"

int main(int argc, char** argv) {
  int flag = 1;
  if (argc > 5) MPI_Init(&argc, &argv);
  MPI_Initialized(&flag);
  printf("initialized: %d\n", flag);
  return flag ? 1 : 5;
}
