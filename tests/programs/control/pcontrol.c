// MPI_Pcontrol: levels are calls like any other; 0 stops recording and 1 goes on.
#include "calls.h"

int main(int argc, char** argv) {
  int rank, size;
  log_init(&argc, &argv, &rank, &size);
  DO(MPI_Pcontrol(2), "level:i", 2);
  L_Barrier(MPI_COMM_WORLD);
  DO(MPI_Pcontrol(1), "level:i", 1);
  L_Barrier(MPI_COMM_WORLD);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
