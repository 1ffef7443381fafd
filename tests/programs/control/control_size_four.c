// A recording that leaves messages out by their size: calls of MPI 4.
//
//   control_size_four MIN MAX     bytes; the ranks are a ring
#include "kept.h"

int main(int argc, char** argv) {
#if MPI_VERSION < 4
  (void)argc, (void)argv;
  SKIP("no partitioned communication in this MPI");
#else
  enum { kParts = 4, kRoom = 100000 };
  static const int kBytes[] = {1, 250, 1250};  // of a part
  static char out[kRoom], in[kRoom];
  int rank, size, flag;
  L_Init_bounds(argc, argv, 3, &rank, &size);
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  for (int i = 0; i < 3; ++i) {
    const int n = kBytes[i], seen = kept(kParts * n);
    MPI_Request r[2], x;
    KEPT(seen, MPI_Psend_init(out, kParts, n, MPI_BYTE, to, i, W, MPI_INFO_NULL, &r[0]),
         "partitions:i count:i datatype:s dest:r comm:C request:j", kParts, n, "MPI_BYTE", to, W,
         "\"@to\"");
    KEPT(seen, MPI_Precv_init(in, kParts, n, MPI_BYTE, from, i, W, MPI_INFO_NULL, &r[1]),
         "partitions:i count:i request:j", kParts, n, "\"@from\"");
    KEPT(seen, MPI_Startall(2, r), "array_of_requests:j", "[\"@to\",\"@from\"]");
    KEPT(seen, MPI_Pready(0, r[0]), "partition:i request:j", 0, "\"@to\"");
    KEPT(seen, MPI_Pready_range(1, kParts - 1, r[0]), "partition_low:i request:j", 1, "\"@to\"");
    KEPT(seen, MPI_Parrived(r[1], 1, &flag), "request:j", "\"@from\"");
    KEPT(seen, MPI_Waitall(2, r, MPI_STATUSES_IGNORE), "array_of_requests:j",
         "[\"@to\",\"@from\"]");
    for (int k = 0; k < 2; ++k) {
      MPI_Request_free(&r[k]);
      WAS_KEPT(seen, "MPI_Request_free", "request:j =freed:j", k ? "\"@from\"" : "\"@to\"",
               k ? "[\"@from\"]" : "[\"@to\"]");
    }
    // The send is known before the receive.
    KEPT(kept(n), MPI_Isendrecv(out, n, MPI_BYTE, to, 9, in, kRoom, MPI_BYTE, from, 9, W, &x),
         "sendcount:i sendtype:s dest:r recvcount:i request:j", n, "MPI_BYTE", to, kRoom, "\"@x\"");
    MPI_Wait(&x, MPI_STATUS_IGNORE);
    WAS_KEPT(kept(n), "MPI_Wait", "request:j =freed:j", "\"@x\"", "[\"@x\"]");
    KEPT(kept(n),
         MPI_Isendrecv(out, kRoom, MPI_BYTE, MPI_PROC_NULL, 9, in, kRoom, MPI_BYTE, from, 8, W, &x),
         "dest:r recvcount:i request:j", MPI_PROC_NULL, kRoom, "\"@x\"");
    KEPT(kept(n), MPI_Send(out, n, MPI_BYTE, to, 8, W), "count:i datatype:s dest:r", n, "MPI_BYTE",
         to);
    MPI_Wait(&x, MPI_STATUS_IGNORE);
    WAS_KEPT(kept(n), "MPI_Wait", "request:j =freed:j", "\"@x\"", "[\"@x\"]");
  }
  MPI_Finalize();
  DID("MPI_Finalize", "");
  printf("rank %d of %d: %ld calls to leave out\n", rank, size, gone);
  return 0;
#endif
}
