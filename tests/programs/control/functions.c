// Functions that the compiler tells the recorder about: entered before MPI_Init and from callbacks,
// nested, recursive, and with results. Built with -finstrument-functions.
#include "calls.h"

#define ENTER DID("refrain_function_enter", "")
#define LEAVE DID("refrain_function_leave", "")

static int descend(int depth) {
  ENTER;
  L_Barrier(MPI_COMM_WORLD);
  const int below = depth > 0 ? descend(depth - 1) : 0;
  LEAVE;
  return below + 1;
}

static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  ENTER;
  (void)type;
  for (int i = 0; i < *count; ++i) ((int*)inout)[i] += ((int*)in)[i];
  LEAVE;
}

static void repeat(int n) {
  ENTER;
  for (int i = 0; i < n; ++i) EXPECT(descend(i % 3) == i % 3 + 1);
  LEAVE;
}

static int twice(int rank) {
  ENTER;
  int packed[2] = {rank, rank}, sum[2] = {1, 1};
  MPI_Op op;
  DO(MPI_Op_create(add, 1, &op), "commute:i", 1);
  DO(MPI_Reduce_local(packed, sum, 2, MPI_INT, op), "count:i datatype:D", 2, MPI_INT);
  DO(MPI_Op_free(&op), "");
  LEAVE;
  return sum[0] + sum[1];
}

int main(int argc, char** argv) {
  ENTER;
  int rank, size;
  log_init(&argc, &argv, &rank, &size);
  repeat(50);
  EXPECT(twice(rank) == 2 * rank + 2);
  log_finalize();
  return 0;
}
