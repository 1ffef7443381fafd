// The _c functions of MPI 4.
#include "calls.h"

int main(int argc, char** argv) {
#if MPI_VERSION < 4
  (void)argc, (void)argv;
  SKIP("no large counts in this MPI");
#else
  int rank, size;
  log_init(&argc, &argv, &rank, &size);
  const MPI_Comm W = MPI_COMM_WORLD;
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  int out[4] = {rank}, in[4], all[64];
  MPI_Request r;
  MPI_Status st;
  MPI_Count count, bytes, counts[16];
  MPI_Aint displs[16];
  const char* p2p = "count:l datatype:D dest:r tag:t comm:C request:R+";
  DO(MPI_Isend_c(out, 4, MPI_INT, to, 1, W, &r), p2p, 4LL, MPI_INT, to, 1, W, &r);
  DO(MPI_Recv_c(in, 4, MPI_INT, from, 1, W, &st),
     "count:l datatype:D source:r tag:t comm:C status:S", 4LL, MPI_INT, from, 1, W, &st);
  L_Wait(&r, &st);
  DO(MPI_Sendrecv_c(out, 2, MPI_INT, to, 2, in, 4, MPI_INT, from, 2, W, &st),
     "sendcount:l recvcount:l dest:r status:S", 2LL, 4LL, to, &st);
  DO(MPI_Get_count_c(&st, MPI_INT, &count), "datatype:D count:l", MPI_INT, 2LL);
  DO(MPI_Bcast_c(out, 4, MPI_INT, 0, W), "count:l datatype:D root:r comm:C", 4LL, MPI_INT, 0, W);
  DO(MPI_Allreduce_c(out, in, 4, MPI_INT, MPI_SUM, W), "count:l op:O comm:C", 4LL, MPI_SUM, W);
  for (int i = 0; i < size; ++i) counts[i] = 1, displs[i] = i;
  DO(MPI_Allgatherv_c(out, 1, MPI_INT, all, counts, displs, MPI_INT, W),
     "sendcount:l displs:L comm:C", 1LL, size, displs, W);
  MPI_Datatype t;
  DO(MPI_Type_vector_c(3, 2, 5, MPI_INT, &t), "count:i blocklength:i stride:i oldtype:D newtype:D+",
     3, 2, 5, MPI_INT, t);
  DO(MPI_Type_size_c(t, &bytes), "datatype:D size:l", t, 24LL);
  L_Type_free(&t);
  EXPECT(bytes == 24 && count == 2);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
#endif
}
