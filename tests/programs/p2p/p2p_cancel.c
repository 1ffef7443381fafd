// A receive that never matches is cancelled; Test_cancelled says so.
#include "calls.h"

int main(int argc, char** argv) {
  int rank, size, value, cancelled;
  log_init(&argc, &argv, &rank, &size);
  MPI_Request r;
  MPI_Status st;
  for (int i = 0; i < 3; ++i) {
    L_Irecv(&value, 1, MPI_INT, (rank + 1) % size, 77, MPI_COMM_WORLD, &r);
    DO(MPI_Cancel(&r), "request:R", &r);
    DO(MPI_Wait(&r, &st), "request:R", &r);
    DO(MPI_Test_cancelled(&st, &cancelled), "flag:i", cancelled);
    EXPECT(cancelled);
  }
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
