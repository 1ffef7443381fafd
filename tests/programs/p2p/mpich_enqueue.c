// Communication in the queue of a GPU's stream. Without a GPU's stream every call is an error that
// comes back: parameters and codes are recorded all the same. MPIX_Wait_enqueue and
// MPIX_Waitall_enqueue are not here: they end the job for a request of anything else.
#include "calls.h"

int main(int argc, char** argv) {
#if !defined(MPICH_NUMVERSION) || MPICH_NUMVERSION < 40200000
  (void)argc, (void)argv;
  SKIP("no communication in queues of streams in this MPI");
#else
  enum { kCount = 2 };
  int rank, size, rc, out[kCount] = {1, 2}, in[kCount];
  const char* send_c = "count:l datatype:D dest:r tag:t comm:C";
  const char* recv_c = "count:l datatype:D source:r tag:t comm:C";
  MPI_Comm c;
  MPI_Request r;
  MPI_Status st;
  log_init(&argc, &argv, &rank, &size);
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  DO(MPI_Comm_dup(MPI_COMM_WORLD, &c), "comm:C newcomm:C+", MPI_COMM_WORLD, c, "@@queue");
  DO(MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN), "comm:C errhandler:E", c, MPI_ERRORS_RETURN);
  rc = DO(MPIX_Send_enqueue(out, kCount, MPI_INT, to, 1, c), kSendSpec, kCount, MPI_INT, to, 1, c);
  EXPECT(rc != MPI_SUCCESS);
  rc = DO(MPIX_Recv_enqueue(in, kCount, MPI_INT, from, 1, c, &st), kRecvSpec, kCount, MPI_INT, from,
          1, c);
  EXPECT(rc != MPI_SUCCESS);
  rc = DO(MPIX_Isend_enqueue(out, kCount, MPI_INT, to, 1, c, &r), kSendSpec, kCount, MPI_INT, to, 1,
          c);
  EXPECT(rc != MPI_SUCCESS);
  rc = DO(MPIX_Irecv_enqueue(in, kCount, MPI_INT, from, 1, c, &r), kRecvSpec, kCount, MPI_INT, from,
          1, c);
  EXPECT(rc != MPI_SUCCESS);
  rc = DO(MPIX_Allreduce_enqueue(out, in, kCount, MPI_INT, MPI_SUM, c),
          "count:i datatype:D op:O comm:C", kCount, MPI_INT, MPI_SUM, c);
  EXPECT(rc != MPI_SUCCESS);
  rc = DO(MPIX_Send_enqueue_c(out, kCount, MPI_INT, to, 1, c), send_c, (long long)kCount, MPI_INT,
          to, 1, c);
  EXPECT(rc != MPI_SUCCESS);
  rc = DO(MPIX_Recv_enqueue_c(in, kCount, MPI_INT, from, 1, c, &st), recv_c, (long long)kCount,
          MPI_INT, from, 1, c);
  EXPECT(rc != MPI_SUCCESS);
  rc = DO(MPIX_Isend_enqueue_c(out, kCount, MPI_INT, to, 1, c, &r), send_c, (long long)kCount,
          MPI_INT, to, 1, c);
  EXPECT(rc != MPI_SUCCESS);
  rc = DO(MPIX_Irecv_enqueue_c(in, kCount, MPI_INT, from, 1, c, &r), recv_c, (long long)kCount,
          MPI_INT, from, 1, c);
  EXPECT(rc != MPI_SUCCESS);
  rc = DO(MPIX_Allreduce_enqueue_c(out, in, kCount, MPI_INT, MPI_SUM, c),
          "count:l datatype:D op:O comm:C", (long long)kCount, MPI_INT, MPI_SUM, c);
  EXPECT(rc != MPI_SUCCESS);
  L_Comm_free(&c);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
#endif
}
