// Every blocking collective, roots rotating, with MPI_IN_PLACE, vector arrays and a user's
// operator.
#include "calls.h"

enum { kMax = 16 };
static int rank, size;
#define W MPI_COMM_WORLD  // no constant in every MPI

static void product(void* in, void* inout, int* n, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *n; ++i) ((int*)inout)[i] *= ((int*)in)[i];
}

static void rooted(int root) {
  int one = rank + 1, all[kMax] = {0}, counts[kMax], displs[kMax];
  for (int i = 0; i < size; ++i) counts[i] = 1, displs[i] = size - 1 - i;
  const int is_root = rank == root;
  int value = is_root ? 42 + root : 0;
  L_Bcast(&value, 1, MPI_INT, root, W);
  EXPECT(value == 42 + root);
  DO(MPI_Gather(&one, 1, MPI_INT, all, 1, MPI_INT, root, W), "sendcount:i sendtype:D root:r comm:C",
     1, MPI_INT, root, W);
  DO(MPI_Scatter(all, 1, MPI_INT, &one, 1, MPI_INT, root, W),
     "recvcount:i recvtype:D root:r comm:C", 1, MPI_INT, root, W);
  EXPECT(one == rank + 1);
  if (is_root) {
    DO(MPI_Gatherv(&one, 1, MPI_INT, all, counts, displs, MPI_INT, root, W),
       "sendcount:i sendtype:D recvcounts:V displs:V recvtype:D root:r comm:C", 1, MPI_INT, size,
       counts, size, displs, MPI_INT, root, W);
    EXPECT(all[0] == size);
    DO(MPI_Scatterv(all, counts, displs, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, root, W),
       "sendcounts:V displs:V sendtype:D recvbuf:b root:r comm:C", size, counts, size, displs,
       MPI_INT, MPI_IN_PLACE, "", root, W);
    DO(MPI_Gather(MPI_IN_PLACE, 1, MPI_INT, all, 1, MPI_INT, root, W),
       "sendbuf:b recvcount:i recvtype:D root:r", MPI_IN_PLACE, "", 1, MPI_INT, root);
    DO(MPI_Reduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_SUM, root, W),
       "sendbuf:b count:i datatype:D op:O root:r comm:C", MPI_IN_PLACE, "", 1, MPI_INT, MPI_SUM,
       root, W);
    EXPECT(one == size * (size + 1) / 2);
  } else {
    // Arrays that matter at the root only are not recorded elsewhere; a type that does not matter
    // may be anything, and nobody may look into it.
    MPI_Datatype garbage;
    memset(&garbage, 0x5a, sizeof garbage);
    DO(MPI_Gatherv(&one, 1, MPI_INT, NULL, NULL, NULL, garbage, root, W),
       "sendcount:i sendtype:D recvcounts:n displs:n root:r comm:C", 1, MPI_INT, root, W);
    DO(MPI_Scatterv(NULL, NULL, NULL, garbage, &one, 1, MPI_INT, root, W),
       "sendcounts:n displs:n recvcount:i recvtype:D root:r comm:C", 1, MPI_INT, root, W);
    DO(MPI_Gather(&one, 1, MPI_INT, NULL, 0, garbage, root, W), "sendcount:i root:r", 1, root);
    DO(MPI_Reduce(&one, NULL, 1, MPI_INT, MPI_SUM, root, W),
       "count:i datatype:D op:O root:r comm:C", 1, MPI_INT, MPI_SUM, root, W);
  }
}

static void all_to_all(void) {
  int in[kMax], out[kMax], sc[kMax], sd[kMax], rc[kMax], rd[kMax];
  MPI_Datatype st[kMax], rt[kMax];
  for (int i = 0; i < size; ++i) {
    in[i] = rank * 100 + i, sc[i] = rc[i] = 1, sd[i] = rd[i] = i;
    st[i] = rt[i] = MPI_INT;
  }
  DO(MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, W),
     "sendcount:i sendtype:D recvcount:i recvtype:D comm:C", 1, MPI_INT, 1, MPI_INT, W);
  EXPECT(out[size - 1] == (size - 1) * 100 + rank);
  DO(MPI_Alltoallv(in, sc, sd, MPI_INT, out, rc, rd, MPI_INT, W),
     "sendcounts:V sdispls:V sendtype:D recvcounts:V rdispls:V recvtype:D comm:C", size, sc, size,
     sd, MPI_INT, size, rc, size, rd, MPI_INT, W);
  for (int i = 0; i < size; ++i) sd[i] = rd[i] = (int)sizeof(int) * i;
  DO(MPI_Alltoallw(in, sc, sd, st, out, rc, rd, rt, W),
     "sendcounts:V sdispls:V sendtypes:Y recvcounts:V rdispls:V recvtypes:Y comm:C", size, sc, size,
     sd, size, st, size, rc, size, rd, size, rt, W);
  DO(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, 1, MPI_INT, W),
     "sendbuf:b recvcount:i recvtype:D comm:C", MPI_IN_PLACE, "", 1, MPI_INT, W);
  in[0] = rank;
  DO(MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, W),
     "sendcount:i sendtype:D recvcount:i recvtype:D comm:C", 1, MPI_INT, 1, MPI_INT, W);
  EXPECT(out[size - 1] == size - 1);
  for (int i = 0; i < size; ++i) rd[i] = size - 1 - i;
  DO(MPI_Allgatherv(in, 1, MPI_INT, out, rc, rd, MPI_INT, W),
     "sendcount:i sendtype:D recvcounts:V displs:V recvtype:D comm:C", 1, MPI_INT, size, rc, size,
     rd, MPI_INT, W);
  DO(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, 1, MPI_INT, W),
     "sendbuf:b recvcount:i recvtype:D comm:C", MPI_IN_PLACE, "", 1, MPI_INT, W);
}

static void reductions(void) {
  int in[kMax], out[kMax], counts[kMax];
  for (int i = 0; i < size; ++i) in[i] = i + 1, counts[i] = 1;
  L_Allreduce(in, out, 2, MPI_INT, MPI_MAX, W);
  DO(MPI_Allreduce(MPI_IN_PLACE, out, 2, MPI_INT, MPI_SUM, W),
     "sendbuf:b count:i datatype:D op:O comm:C", MPI_IN_PLACE, "", 2, MPI_INT, MPI_SUM, W);
  DO(MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, W),
     "recvcounts:V datatype:D op:O comm:C", size, counts, MPI_INT, MPI_SUM, W);
  EXPECT(out[0] == (rank + 1) * size);
  DO(MPI_Reduce_scatter_block(in, out, 1, MPI_INT, MPI_SUM, W),
     "recvcount:i datatype:D op:O comm:C", 1, MPI_INT, MPI_SUM, W);
  in[0] = 1;
  DO(MPI_Scan(in, out, 1, MPI_INT, MPI_SUM, W), "count:i datatype:D op:O comm:C", 1, MPI_INT,
     MPI_SUM, W);
  EXPECT(out[0] == rank + 1);
  DO(MPI_Exscan(in, out, 1, MPI_INT, MPI_SUM, W), "count:i datatype:D op:O comm:C", 1, MPI_INT,
     MPI_SUM, W);
  DO(MPI_Reduce_local(in, out, 1, MPI_INT, MPI_SUM), "count:i datatype:D op:O", 1, MPI_INT,
     MPI_SUM);
  MPI_Op op, old;
  DO(MPI_Op_create(product, 1, &op), "commute:i op:O+", 1, op);
  int commutes;
  DO(MPI_Op_commutative(op, &commutes), "op:O commute:i", op, commutes);
  in[0] = 2;
  L_Allreduce(in, out, 1, MPI_INT, op, W);
  EXPECT(out[0] == 1 << size);
  old = op;
  DO(MPI_Op_free(&op), "op:O-", old);
}

int main(int argc, char** argv) {
  log_init(&argc, &argv, &rank, &size);
  for (int root = 0; root < size; ++root) rooted(root);
  all_to_all();
  reductions();
  for (int i = 0; i < 10; ++i) L_Barrier(W);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
