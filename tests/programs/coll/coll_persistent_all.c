// Persistent collectives (MPI 4) that coll_persistent.c has not: vectors, scans, scatters,
// neighbours.
#include "calls.h"

#if MPI_VERSION >= 4

static int rank, size;
#define W MPI_COMM_WORLD  // no constant in every MPI
enum { kMost = 32 };
static int a[kMost], b[kMost], one[kMost], at[kMost];
static MPI_Datatype types[kMost];
#define kIn "comm:C info:N request:R+"
#define NI MPI_INFO_NULL

static void run(MPI_Request* r, int n) {
  for (int round = 0; round < 2; ++round)
    for (int i = 0; i < n; ++i) {
      DO(MPI_Start(&r[i]), "request:R", &r[i]);
      L_Wait(&r[i], MPI_STATUS_IGNORE);
    }
  for (int i = 0; i < n; ++i) DO(MPI_Request_free(&r[i]), "request:R", &r[i]);
}

static void of_all(void) {
  MPI_Request r[9];
  DO(MPI_Allgather_init(a, 1, MPI_INT, b, 1, MPI_INT, W, NI, &r[0]), "sendcount:i recvcount:i " kIn,
     1, 1, W, NI, &r[0]);
  DO(MPI_Alltoallv_init(a, one, at, MPI_INT, b, one, at, MPI_INT, W, NI, &r[1]),
     "sendcounts:V sdispls:V recvcounts:V rdispls:V " kIn, size, one, size, at, size, one, size, at,
     W, NI, &r[1]);
  int bytes_at[kMost];
  for (int i = 0; i < kMost; ++i) bytes_at[i] = 4 * i;
  DO(MPI_Alltoallw_init(a, one, bytes_at, types, b, one, bytes_at, types, W, NI, &r[2]),
     "sendcounts:V sdispls:V sendtypes:Y recvcounts:V rdispls:V recvtypes:Y " kIn, size, one, size,
     bytes_at, size, types, size, one, size, bytes_at, size, types, W, NI, &r[2]);
  DO(MPI_Exscan_init(a, b, 1, MPI_INT, MPI_SUM, W, NI, &r[3]), "count:i datatype:D op:O " kIn, 1,
     MPI_INT, MPI_SUM, W, NI, &r[3]);
  DO(MPI_Scan_init(a, b, 1, MPI_INT, MPI_SUM, W, NI, &r[4]), "count:i datatype:D op:O " kIn, 1,
     MPI_INT, MPI_SUM, W, NI, &r[4]);
  DO(MPI_Reduce_scatter_block_init(a, b, 1, MPI_INT, MPI_SUM, W, NI, &r[5]),
     "recvcount:i datatype:D op:O " kIn, 1, MPI_INT, MPI_SUM, W, NI, &r[5]);
  DO(MPI_Reduce_scatter_init(a, b, one, MPI_INT, MPI_SUM, W, NI, &r[6]),
     "recvcounts:V datatype:D op:O " kIn, size, one, MPI_INT, MPI_SUM, W, NI, &r[6]);
  run(r, 7);
}

// What counts on the root only is null elsewhere.
static void of_a_root(void) {
  MPI_Request r[4];
  if (rank == 0) {
    DO(MPI_Gather_init(a, 1, MPI_INT, b, 1, MPI_INT, 0, W, NI, &r[0]),
       "sendcount:i recvtype:D root:r " kIn, 1, MPI_INT, 0, W, NI, &r[0]);
    DO(MPI_Gatherv_init(a, 1, MPI_INT, b, one, at, MPI_INT, 0, W, NI, &r[1]),
       "sendcount:i recvcounts:V displs:V root:r " kIn, 1, size, one, size, at, 0, W, NI, &r[1]);
    DO(MPI_Scatter_init(a, 1, MPI_INT, b, 1, MPI_INT, 0, W, NI, &r[2]),
       "sendtype:D recvcount:i root:r " kIn, MPI_INT, 1, 0, W, NI, &r[2]);
    DO(MPI_Scatterv_init(a, one, at, MPI_INT, b, 1, MPI_INT, 0, W, NI, &r[3]),
       "sendcounts:V displs:V recvcount:i root:r " kIn, size, one, size, at, 1, 0, W, NI, &r[3]);
  } else {
    DO(MPI_Gather_init(a, 1, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, 0, W, NI, &r[0]),
       "sendcount:i recvtype:s root:r " kIn, 1, "MPI_DATATYPE_NULL", 0, W, NI, &r[0]);
    DO(MPI_Gatherv_init(a, 1, MPI_INT, NULL, NULL, NULL, MPI_DATATYPE_NULL, 0, W, NI, &r[1]),
       "sendcount:i recvcounts:n displs:n root:r " kIn, 1, 0, W, NI, &r[1]);
    DO(MPI_Scatter_init(NULL, 0, MPI_DATATYPE_NULL, b, 1, MPI_INT, 0, W, NI, &r[2]),
       "sendtype:s recvcount:i root:r " kIn, "MPI_DATATYPE_NULL", 1, 0, W, NI, &r[2]);
    DO(MPI_Scatterv_init(NULL, NULL, NULL, MPI_DATATYPE_NULL, b, 1, MPI_INT, 0, W, NI, &r[3]),
       "sendcounts:n displs:n recvcount:i root:r " kIn, 1, 0, W, NI, &r[3]);
  }
  run(r, 4);
}

static void of_neighbours(void) {
  MPI_Comm ring;
  const int dims[1] = {size}, periods[1] = {1}, n = 2;
  DO(MPI_Cart_create(W, 1, dims, periods, 0, &ring),
     "comm_old:C ndims:i dims:V periods:V comm_cart:C+", W, 1, 1, dims, 1, periods, ring, "@@ring");
  MPI_Aint bytes_at[kMost];
  for (int i = 0; i < kMost; ++i) bytes_at[i] = 4 * i;
  MPI_Request r[5];
  DO(MPI_Neighbor_allgather_init(a, 1, MPI_INT, b, 1, MPI_INT, ring, NI, &r[0]),
     "sendcount:i recvcount:i " kIn, 1, 1, ring, NI, &r[0]);
  DO(MPI_Neighbor_allgatherv_init(a, 1, MPI_INT, b, one, at, MPI_INT, ring, NI, &r[1]),
     "sendcount:i recvcounts:V displs:V " kIn, 1, n, one, n, at, ring, NI, &r[1]);
  DO(MPI_Neighbor_alltoall_init(a, 1, MPI_INT, b, 1, MPI_INT, ring, NI, &r[2]),
     "sendcount:i recvcount:i " kIn, 1, 1, ring, NI, &r[2]);
  DO(MPI_Neighbor_alltoallv_init(a, one, at, MPI_INT, b, one, at, MPI_INT, ring, NI, &r[3]),
     "sendcounts:V sdispls:V recvcounts:V rdispls:V " kIn, n, one, n, at, n, one, n, at, ring, NI,
     &r[3]);
  DO(MPI_Neighbor_alltoallw_init(a, one, bytes_at, types, b, one, bytes_at, types, ring, NI, &r[4]),
     "sendcounts:V sdispls:L sendtypes:Y recvcounts:V rdispls:L recvtypes:Y " kIn, n, one, n,
     bytes_at, n, types, n, one, n, bytes_at, n, types, ring, NI, &r[4]);
  run(r, 5);
  L_Comm_free(&ring);
}

#endif

int main(int argc, char** argv) {
#if MPI_VERSION < 4
  (void)argc, (void)argv;
  SKIP("no persistent collectives in this MPI");
#else
  log_init(&argc, &argv, &rank, &size);
  for (int i = 0; i < kMost; ++i) a[i] = rank, one[i] = 1, at[i] = i, types[i] = MPI_INT;
  of_all();
  of_a_root();
  of_neighbours();
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
#endif
}
