// Persistent collectives (MPI 4): made once, started in a loop.
#include "calls.h"

int main(int argc, char** argv) {
#if MPI_VERSION < 4
  (void)argc, (void)argv;
  SKIP("no persistent collectives in this MPI");
#else
  int rank, size, a[16], b[16], one[16], at[16];
  log_init(&argc, &argv, &rank, &size);
  const MPI_Comm W = MPI_COMM_WORLD;
  MPI_Request r[6];
  for (int i = 0; i < 16; ++i) a[i] = rank + 1, one[i] = 1, at[i] = i;
  DO(MPI_Allreduce_init(a, b, 1, MPI_INT, MPI_SUM, W, MPI_INFO_NULL, &r[0]),
     "count:i datatype:D op:O comm:C info:N request:R+", 1, MPI_INT, MPI_SUM, W, MPI_INFO_NULL,
     &r[0]);
  DO(MPI_Bcast_init(a, 1, MPI_INT, 0, W, MPI_INFO_NULL, &r[1]), "count:i root:r comm:C request:R+",
     1, 0, W, &r[1]);
  DO(MPI_Barrier_init(W, MPI_INFO_NULL, &r[2]), "comm:C request:R+", W, &r[2]);
  DO(MPI_Allgatherv_init(a, 1, MPI_INT, b, one, at, MPI_INT, W, MPI_INFO_NULL, &r[3]),
     "recvcounts:V displs:V comm:C request:R+", size, one, size, at, W, &r[3]);
  DO(MPI_Alltoall_init(a, 1, MPI_INT, b, 1, MPI_INT, W, MPI_INFO_NULL, &r[4]),
     "sendcount:i comm:C request:R+", 1, W, &r[4]);
  DO(MPI_Reduce_init(a, b, 1, MPI_INT, MPI_SUM, 0, W, MPI_INFO_NULL, &r[5]),
     "count:i root:r comm:C request:R+", 1, 0, W, &r[5]);
  for (int round = 0; round < 4; ++round)
    for (int i = 0; i < 6; ++i) {
      DO(MPI_Start(&r[i]), "request:R", &r[i]);
      L_Wait(&r[i], MPI_STATUS_IGNORE);
    }
  for (int i = 0; i < 6; ++i) DO(MPI_Request_free(&r[i]), "request:R", &r[i]);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
#endif
}
