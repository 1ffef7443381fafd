// A job that is killed while a filter by size has not decided about a receive: what is behind it is
// not in the spool. Before that, a call that is kept names a request that is not.
//
//   control_size_dies MIN MAX     some of 10 and 1000 bytes are left out
#include <signal.h>
#include <unistd.h>

#include "kept.h"

int main(int argc, char** argv) {
  static char out[2][1000], in[2][2000];
  int rank, size;
  L_Init_bounds(argc, argv, 3, &rank, &size);
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  for (int i = 0; i < 3; ++i) {
    MPI_Request r[2];
    KEPT(kept(10), MPI_Isend(out[0], 10, MPI_BYTE, to, 1, W, &r[0]), "count:i", 10);
    KEPT(kept(1000), MPI_Isend(out[1], 1000, MPI_BYTE, to, 2, W, &r[1]), "count:i", 1000);
    KEPT(kept(10), MPI_Recv(in[0], 2000, MPI_BYTE, from, 1, W, MPI_STATUS_IGNORE), "tag:t", 1);
    KEPT(kept(1000), MPI_Recv(in[1], 2000, MPI_BYTE, from, 2, W, MPI_STATUS_IGNORE), "tag:t", 2);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    WAS_KEPT(kept(10) || kept(1000), "MPI_Waitall", "count:i", 2);
    L_Barrier(W);
  }
  DO(MPI_Bcast(out[0], 500, MPI_BYTE, 0, W), "count:i root:r", 500, 0);
  MPI_Request never;
  MPI_Irecv(in[0], 2000, MPI_BYTE, from, 3, W, &never);
  MPI_Barrier(W);
  MPI_Send(out[0], 500, MPI_BYTE, MPI_PROC_NULL, 4, W);
  MPI_Barrier(W);
  sleep(1);
  return kill(getpid(), SIGKILL);
}
