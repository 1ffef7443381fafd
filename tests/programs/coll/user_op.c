// A user's reduction operator that calls MPI: its calls are the program's, though they come from
// inside the library; what the library calls by itself is not.
#include "calls.h"

static int called;

static void add(void* in, void* inout, int* n, MPI_Datatype* type) {
  int bytes;
  MPI_Type_size(*type, &bytes);
  DID("MPI_Type_size", "datatype:D size:i", *type, bytes);
  for (int i = 0; i < *n; ++i) ((double*)inout)[i] += ((double*)in)[i];
  ++called;
}

int main(int argc, char** argv) {
  int rank, size;
  log_init(&argc, &argv, &rank, &size);
  MPI_Op op, old;
  double x = rank, sum;
  DO(MPI_Op_create(add, 1, &op), "commute:i op:O+", 1, op);
  for (int i = 0; i < 5; ++i) {
    L_Allreduce(&x, &sum, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
    EXPECT(sum == size * (size - 1) / 2);
  }
  DO(MPI_Reduce_local(&x, &sum, 1, MPI_DOUBLE, op), "count:i datatype:D op:O", 1, MPI_DOUBLE, op);
  old = op;
  DO(MPI_Op_free(&op), "op:O-", old);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
