// Several eager Isends outstanding: both MPIs hand out one shared request handle for those that are
// complete at once, so the variable tells them apart, not the handle. Completed in reverse order.
#include "calls.h"

enum { kN = 6 };

int main(int argc, char** argv) {
  int rank, size;
  log_init(&argc, &argv, &rank, &size);
  int out[kN], in[kN];
  MPI_Request r[kN];
  MPI_Status st;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < kN; ++i) {
      out[i] = rank * 10 + i;
      L_Isend(&out[i], 1, MPI_INT, (rank + i) % size, 100 + i, MPI_COMM_WORLD, &r[i]);
    }
    for (int i = 0; i < kN; ++i)
      L_Recv(&in[i], 1, MPI_INT, (rank + kN * size - i) % size, 100 + i, MPI_COMM_WORLD, &st);
    if (round == 0)
      for (int i = kN - 1; i >= 0; --i) L_Wait(&r[i], &st);
    if (round == 1) {
      for (int i = 0; i < kN; i += 2) L_Wait(&r[i], MPI_STATUS_IGNORE);
      L_Waitall(kN, r, MPI_STATUSES_IGNORE);
    }
    if (round == 2) {
      MPI_Request reversed[kN];
      for (int i = 0; i < kN; ++i) {
        reversed[kN - 1 - i] = r[i];
        log_move_request(&r[i], &reversed[kN - 1 - i]);
      }
      // The program copied its handles elsewhere: only the set of requests is certain now.
      DO(MPI_Waitall(kN, reversed, MPI_STATUSES_IGNORE), "count:i", kN);
    }
    L_Barrier(MPI_COMM_WORLD);
  }
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
