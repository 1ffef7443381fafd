// Prints, and returns 7.
#include "calls.h"

int main(int argc, char** argv) {
  int rank, size;
  log_init(&argc, &argv, &rank, &size);
  L_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("one line\nand no newline at the end, \"%s\"", argc > 1 ? argv[1] : "");
  fflush(stdout);
  log_finalize();
  return 7;
}
