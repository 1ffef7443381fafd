// Collectives over vectors of which some or all parts are empty, in place, with other counts on
// every rank; an operator that calls MPI itself.
#include "calls.h"

enum { kMax = 16 };
static int rank, size, zero[kMax], one[kMax], odd[kMax], at[kMax], s[kMax], r[kMax];
#define W MPI_COMM_WORLD  // no constant in every MPI

static void add(void* in, void* inout, int* n, MPI_Datatype* t) {
  int bytes;
  DO(MPI_Type_size(*t, &bytes), "size:i", bytes);
  for (int i = 0; i < *n; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

// Only odd ranks have something to give.
static void gather(int root) {
  memset(r, 0, sizeof r);
  r[rank] = rank;
  if (rank == root)
    DO(MPI_Gatherv(MPI_IN_PLACE, 0, MPI_INT, r, odd, at, MPI_INT, root, W),
       "sendbuf:b recvcounts:V displs:V recvtype:D root:r comm:C", MPI_IN_PLACE, "", size, odd,
       size, at, MPI_INT, root, W);
  else
    DO(MPI_Gatherv(s, rank % 2, MPI_INT, NULL, NULL, NULL, MPI_INT, root, W),
       "sendcount:i sendtype:D recvcounts:n displs:n root:r comm:C", rank % 2, MPI_INT, root, W);
  if (rank != root) return;
  for (int i = 0; i < size; ++i) EXPECT(i == root || r[i] == (i % 2 ? i : 0));
}

static void all_to_all(void) {
  MPI_Datatype types[kMax];
  int bytes_at[kMax];
  for (int i = 0; i < kMax; ++i) types[i] = i % 2 ? MPI_FLOAT : MPI_INT, bytes_at[i] = 4 * i;
  DO(MPI_Alltoallv(s, zero, zero, MPI_INT, r, zero, zero, MPI_DOUBLE, W),
     "sendcounts:V sdispls:V sendtype:D recvcounts:V rdispls:V recvtype:D comm:C", size, zero, size,
     zero, MPI_INT, size, zero, size, zero, MPI_DOUBLE, W);
  // Rank i gets something from everybody when i is odd, everybody else nothing.
  int counts[kMax];
  for (int i = 0; i < kMax; ++i) counts[i] = rank % 2;
  DO(MPI_Alltoallv(s, odd, zero, MPI_INT, r, counts, at, MPI_INT, W),
     "sendcounts:V sdispls:V sendtype:D recvcounts:V rdispls:V recvtype:D comm:C", size, odd, size,
     zero, MPI_INT, size, counts, size, at, MPI_INT, W);
  for (int i = 0; rank % 2 && i < size; ++i) EXPECT(r[i] == i);
  DO(MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, r, one, at, MPI_INT, W),
     "sendbuf:b recvcounts:V rdispls:V recvtype:D comm:C", MPI_IN_PLACE, "", size, one, size, at,
     MPI_INT, W);
  // The type of what goes to i is i's, and so is that of what it gets.
  MPI_Datatype mine[kMax];
  for (int i = 0; i < kMax; ++i) mine[i] = types[rank];
  DO(MPI_Alltoallw(s, one, zero, types, r, one, bytes_at, mine, W),
     "sendcounts:V sdispls:V sendtypes:Y recvcounts:V rdispls:V recvtypes:Y comm:C", size, one,
     size, zero, size, types, size, one, size, bytes_at, size, mine, W);
}

static void reductions(void) {
  MPI_Op op, old;
  DO(MPI_Op_create(add, 1, &op), "commute:i op:O+", 1, op);
  s[0] = 1, r[0] = 2;
  DO(MPI_Reduce_local(s, r, 1, MPI_INT, op), "count:i datatype:D op:O", 1, MPI_INT, op);
  EXPECT(r[0] == 3);
  old = op;
  DO(MPI_Op_free(&op), "op:O-", old);
  for (int i = 0; i < kMax; ++i) s[i] = 1;
  DO(MPI_Reduce_scatter(s, r, odd, MPI_INT, MPI_SUM, W), "recvcounts:V datatype:D op:O comm:C",
     size, odd, MPI_INT, MPI_SUM, W);
  EXPECT(rank % 2 == 0 || r[0] == size);
  r[0] = r[1] = 1;
  DO(MPI_Scan(MPI_IN_PLACE, r, 2, MPI_INT, MPI_SUM, W), "sendbuf:b count:i datatype:D op:O comm:C",
     MPI_IN_PLACE, "", 2, MPI_INT, MPI_SUM, W);
  EXPECT(r[1] == rank + 1);
  DO(MPI_Exscan(s, r, 0, MPI_DOUBLE, MPI_MAX, W), "count:i datatype:D op:O comm:C", 0, MPI_DOUBLE,
     MPI_MAX, W);
  L_Allreduce(s, r, 0, MPI_INT, MPI_SUM, W);
  L_Bcast(NULL, 0, MPI_INT, size - 1, W);
}

int main(int argc, char** argv) {
  log_init(&argc, &argv, &rank, &size);
  for (int i = 0; i < kMax; ++i) s[i] = rank, one[i] = 1, odd[i] = i % 2, at[i] = i;
  for (int root = 0; root < size; ++root) gather(root);
  all_to_all();
  reductions();
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
