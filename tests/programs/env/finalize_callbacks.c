// Delete callbacks of MPI_COMM_SELF's attributes run first thing inside MPI_Finalize, when MPI is
// still there: the calls that they make belong to the program. They end before MPI_Finalize does.
#include "calls.h"

static int rank, size, deleted;

static int delete_fn(MPI_Comm c, int keyval, void* value, void* extra) {
  (void)keyval, (void)extra;
  EXPECT(c == MPI_COMM_SELF);
  // MPI says: the latest attribute first.
  EXPECT(*(int*)value == 2 - deleted);
  int me, sum;
  L_Comm_rank(MPI_COMM_WORLD, &me);
  L_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT(me == rank && sum == size * (size - 1) / 2);
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Request r;
  L_Irecv(&sum, 1, MPI_INT, from, deleted, MPI_COMM_WORLD, &r);
  L_Send(value, 1, MPI_INT, to, deleted, MPI_COMM_WORLD);
  L_Wait(&r, MPI_STATUS_IGNORE);
  if (deleted == 1) {
    MPI_Comm dup;
    DO(MPI_Comm_dup(MPI_COMM_WORLD, &dup), "comm:C newcomm:C+", MPI_COMM_WORLD, dup, "@@late");
    L_Barrier(dup);
    L_Comm_free(&dup);
  }
  ++deleted;
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  static int first = 1, second = 2;
  int keyvals[2];
  log_init(&argc, &argv, &rank, &size);
  DO(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_fn, &keyvals[0], NULL), "comm_keyval:K+",
     keyvals[0]);
  DO(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_fn, &keyvals[1], NULL), "comm_keyval:K+",
     keyvals[1]);
  DO(MPI_Comm_set_attr(MPI_COMM_SELF, keyvals[0], &first), "comm:C comm_keyval:K", MPI_COMM_SELF,
     keyvals[0]);
  DO(MPI_Comm_set_attr(MPI_COMM_SELF, keyvals[1], &second), "comm:C comm_keyval:K", MPI_COMM_SELF,
     keyvals[1]);
  L_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  EXPECT(deleted == 2);
  DID("MPI_Finalize", "");
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
