// A filter by size that waits too long for a message: what waits is bounded, so the receive is
// kept.
//
//   control_size_bound CALLS     made before the message comes; 10 bytes of a recording from 100 on
#include "kept.h"

int main(int argc, char** argv) {
  enum { kMost = 1170 };  // entries of 56 bytes that 64 KiB hold
  static char out[10], in[1000];
  int rank, size, flag;
  MPI_Request r;
  MPI_Init(&argc, &argv);
  EXPECT(argc == 2);
  DID("MPI_Init", "argc:i", argc);
  const int calls = atoi(argv[1]);
  L_Comm_rank(W, &rank);
  L_Comm_size(W, &size);
  const int to = (rank + 1) % size, from = (rank + size - 1) % size, too_many = calls > kMost;
  KEPT(too_many, MPI_Irecv(in, 1000, MPI_BYTE, from, 1, W, &r), "count:i request:j", 1000,
       "\"@r\"");
  // The same again and again takes no room.
  for (int i = 0; i < 5000; ++i) {
    MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
    EXPECT(!flag);
    WAS_KEPT(too_many, "MPI_Test", "request:j flag:i", "\"@r\"", 0);
  }
  for (int i = 0; i < calls; i += 2) {
    L_Comm_rank(W, &rank);
    L_Comm_size(W, &size);
  }
  L_Barrier(W);
  EXPECT(MPI_Send(out, 10, MPI_BYTE, to, 1, W) == MPI_SUCCESS);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  WAS_KEPT(too_many, "MPI_Wait", "request:j =freed:j", "\"@r\"", "[\"@r\"]");
  MPI_Finalize();
  DID("MPI_Finalize", "");
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
