// Every non-blocking collective, several outstanding at once, roots rotating.
#include "calls.h"

enum { kMax = 16, kOps = 17 };
static int rank, size;
static MPI_Datatype own;  // an MPI may look at the array of types again when the call is complete
#define W MPI_COMM_WORLD  // no constant in every MPI

static void round_of(int root) {
  static int a[kOps][kMax], b[kOps][kMax], one[kMax], at[kMax], byte_at[kMax];
  static MPI_Datatype types[kMax];
  MPI_Request r[kOps];
  const int is_root = rank == root;
  for (int i = 0; i < kMax; ++i) {
    one[i] = 1, at[i] = i, byte_at[i] = 4 * i, types[i] = MPI_INT;
    for (int k = 0; k < kOps; ++k) a[k][i] = rank + 1;
  }
  types[0] = own;
  int n = 0;
#define NEXT(call, spec, ...) DO(call, spec " request:R+", __VA_ARGS__, &r[n]), ++n
  NEXT(MPI_Ibarrier(W, &r[n]), "comm:C", W);
  NEXT(MPI_Ibcast(a[n], 3, MPI_INT, root, W, &r[n]), "count:i datatype:D root:r comm:C", 3, MPI_INT,
       root, W);
  NEXT(MPI_Igather(a[n], 1, MPI_INT, b[n], 1, MPI_INT, root, W, &r[n]), "sendcount:i root:r comm:C",
       1, root, W);
  NEXT(MPI_Iscatter(a[n], 1, MPI_INT, b[n], 1, MPI_INT, root, W, &r[n]),
       "recvcount:i root:r comm:C", 1, root, W);
  if (is_root)
    NEXT(MPI_Igatherv(a[n], 1, MPI_INT, b[n], one, at, MPI_INT, root, W, &r[n]),
         "sendcount:i recvcounts:V displs:V root:r comm:C", 1, size, one, size, at, root, W);
  else
    NEXT(MPI_Igatherv(a[n], 1, MPI_INT, b[n], one, at, MPI_INT, root, W, &r[n]),
         "sendcount:i recvcounts:n displs:n root:r comm:C", 1, root, W);
  NEXT(MPI_Iscatterv(a[n], one, at, MPI_INT, b[n], 1, MPI_INT, root, W, &r[n]),
       "recvcount:i root:r comm:C", 1, root, W);
  NEXT(MPI_Iallgather(a[n], 1, MPI_INT, b[n], 1, MPI_INT, W, &r[n]),
       "sendcount:i recvcount:i comm:C", 1, 1, W);
  NEXT(MPI_Iallgatherv(a[n], 1, MPI_INT, b[n], one, at, MPI_INT, W, &r[n]),
       "sendcount:i recvcounts:V displs:V comm:C", 1, size, one, size, at, W);
  NEXT(MPI_Ialltoall(a[n], 1, MPI_INT, b[n], 1, MPI_INT, W, &r[n]),
       "sendcount:i recvcount:i comm:C", 1, 1, W);
  NEXT(MPI_Ialltoallv(a[n], one, at, MPI_INT, b[n], one, at, MPI_INT, W, &r[n]),
       "sendcounts:V rdispls:V comm:C", size, one, size, at, W);
  NEXT(MPI_Ialltoallw(a[n], one, byte_at, types, b[n], one, byte_at, types, W, &r[n]),
       "sendcounts:V sendtypes:Y comm:C", size, one, size, types, W);
  NEXT(MPI_Ireduce(a[n], b[n], 2, MPI_INT, MPI_SUM, root, W, &r[n]), "count:i op:O root:r comm:C",
       2, MPI_SUM, root, W);
  NEXT(MPI_Iallreduce(a[n], b[n], 2, MPI_INT, MPI_SUM, W, &r[n]), "count:i op:O comm:C", 2, MPI_SUM,
       W);
  NEXT(MPI_Ireduce_scatter(a[n], b[n], one, MPI_INT, MPI_SUM, W, &r[n]), "recvcounts:V op:O comm:C",
       size, one, MPI_SUM, W);
  NEXT(MPI_Ireduce_scatter_block(a[n], b[n], 1, MPI_INT, MPI_SUM, W, &r[n]),
       "recvcount:i op:O comm:C", 1, MPI_SUM, W);
  NEXT(MPI_Iscan(a[n], b[n], 1, MPI_INT, MPI_SUM, W, &r[n]), "count:i op:O comm:C", 1, MPI_SUM, W);
  NEXT(MPI_Iexscan(a[n], b[n], 1, MPI_INT, MPI_SUM, W, &r[n]), "count:i op:O comm:C", 1, MPI_SUM,
       W);
#undef NEXT
  EXPECT(n == kOps);
  if (root % 2)
    L_Waitall(n, r, MPI_STATUSES_IGNORE);
  else
    for (int i = n - 1; i >= 0; --i) L_Wait(&r[i], MPI_STATUS_IGNORE);
  EXPECT(b[12][0] == size * (size + 1) / 2 && b[15][0] == (rank + 1) * (rank + 2) / 2);
}

int main(int argc, char** argv) {
  log_init(&argc, &argv, &rank, &size);
  DO(MPI_Type_contiguous(1, MPI_INT, &own), "count:i oldtype:D newtype:D+", 1, MPI_INT, &own);
  L_Type_commit(&own);
  for (int root = 0; root < size; ++root) round_of(root);
  L_Type_free(&own);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
