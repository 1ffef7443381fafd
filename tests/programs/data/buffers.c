// Where buffers are: stack, static data, heap, and the named constants.
#include "calls.h"

static int data_buffer[4];

int main(int argc, char** argv) {
  int rank, size, stack_buffer[4];
  log_init(&argc, &argv, &rank, &size);
  const MPI_Comm W = MPI_COMM_WORLD;
  int* heap_buffer = malloc(1 << 16);
  L_Barrier(W);
  DO(MPI_Bcast(stack_buffer, 1, MPI_INT, 0, W), "buffer:b count:i", stack_buffer, "stack", 1);
  DO(MPI_Bcast(&stack_buffer[2], 1, MPI_INT, 0, W), "buffer:b", &stack_buffer[2], "stack");
  DO(MPI_Bcast(data_buffer, 1, MPI_INT, 0, W), "buffer:b", data_buffer, "data");
  DO(MPI_Bcast(&data_buffer[1], 1, MPI_INT, 0, W), "buffer:b", &data_buffer[1], "data");
  DO(MPI_Bcast(heap_buffer, 1, MPI_INT, 0, W), "buffer:b", heap_buffer, "heap");
  DO(MPI_Bcast(heap_buffer + 8, 1, MPI_INT, 0, W), "buffer:b", heap_buffer + 8, "heap");
  stack_buffer[0] = 1;
  DO(MPI_Allreduce(MPI_IN_PLACE, stack_buffer, 1, MPI_INT, MPI_SUM, W), "sendbuf:s recvbuf:b",
     "MPI_IN_PLACE", stack_buffer, "stack");
  MPI_Datatype absolute;
  MPI_Aint where;
  const int one = 1;
  MPI_Get_address(data_buffer, &where);
  DID("MPI_Get_address", "location:b", data_buffer, "data");
  MPI_Type_create_hindexed(1, &one, &where, MPI_INT, &absolute);
  DID("MPI_Type_create_hindexed", "count:i oldtype:D newtype:D+", 1, MPI_INT, absolute);
  L_Type_commit(&absolute);
  DO(MPI_Bcast(MPI_BOTTOM, 1, absolute, 0, W), "buffer:b count:i datatype:D", MPI_BOTTOM, "", 1,
     absolute);
  L_Type_free(&absolute);
  free(heap_buffer);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
