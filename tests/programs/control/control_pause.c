// Recording paused and resumed: what was made meanwhile is known afterwards. Calls that are to stay
// out of the trace are made without a line in the log.
//
//   control_pause [start-paused]
#include "calls.h"
#include "refrain/mark.h"

#define W MPI_COMM_WORLD  // no constant in every MPI

// Recording is paused here; 13 calls.
static void unseen(int rank, int size, int* in, int* out, MPI_Request requests[2], MPI_Comm* twin,
                   MPI_Datatype* pair) {
  int sum, gone;
  MPI_Comm brief;
  MPI_Datatype brief_type;
  MPI_Barrier(W);
  MPI_Allreduce(out, &sum, 1, MPI_INT, MPI_SUM, W);
  EXPECT(sum == size * (size - 1) / 2);
  MPI_Comm_dup(W, &brief);
  MPI_Comm_dup(W, twin);
  MPI_Comm_free(&brief);
  MPI_Type_contiguous(3, MPI_INT, &brief_type);
  MPI_Type_contiguous(2, MPI_INT, pair);
  MPI_Type_free(&brief_type);
  MPI_Request early[2];
  MPI_Irecv(&gone, 1, MPI_INT, (rank + size - 1) % size, 1, W, &early[0]);
  MPI_Isend(out, 1, MPI_INT, (rank + 1) % size, 1, W, &early[1]);
  MPI_Waitall(2, early, MPI_STATUSES_IGNORE);
  EXPECT(gone == (rank + size - 1) % size);
  MPI_Irecv(in, 1, MPI_INT, (rank + size - 1) % size, 2, W, &requests[0]);
  MPI_Isend(out, 1, MPI_INT, (rank + 1) % size, 2, W, &requests[1]);
}

// Recording goes on.
static void seen(int rank, int size, int* in, MPI_Request requests[2], MPI_Comm* twin,
                 MPI_Datatype* pair) {
  char statuses[64];
  MPI_Status filled[2];
  snprintf(statuses, sizeof statuses, "[{\"source\":%d,\"tag\":2},null]", (rank + size - 1) % size);
  DO(MPI_Waitall(2, requests, filled), "count:i array_of_requests:j array_of_statuses:j =freed:j",
     2, "[\"@in\",\"@out\"]", statuses, "[\"@in\",\"@out\"]");
  EXPECT(*in == (rank + size - 1) % size);
  DO(MPI_Type_commit(pair), "datatype:j", "\"@pair\"");
  int two[2] = {7, 8};
  DO(MPI_Bcast(two, 1, *pair, 0, *twin), "datatype:j comm:j", "\"@pair\"", "\"@@twin\"");
  DO(MPI_Type_free(pair), "datatype:j", "\"@pair\"");
  DO(MPI_Comm_free(twin), "comm:j", "\"@@twin\"");
}

int main(int argc, char** argv) {
  int rank, size, in = -1, out, start_paused = argc > 1;
  MPI_Request requests[2];
  MPI_Comm twin;
  MPI_Datatype pair;
  if (start_paused) {
    MPI_Init(&argc, &argv);
    DID("MPI_Init", "argc:i", argc);
    MPI_Comm_rank(W, &rank);
    MPI_Comm_size(W, &size);
  } else {
    log_init(&argc, &argv, &rank, &size);
    L_Barrier(W);
    DO(MPI_Pcontrol(0), "level:i", 0);
  }
  out = rank;
  unseen(rank, size, &in, &out, requests, &twin, &pair);
  DO(MPI_Pcontrol(1), "level:i", 1);
  seen(rank, size, &in, requests, &twin, &pair);

  refrain_region_begin("solve");
  DID("refrain_region_begin", "name:s", "solve");
  refrain_instance("step", 3);
  DID("refrain_instance", "name:s number:i", "step", 3);
  refrain_pause();
  MPI_Barrier(W);
  refrain_instance("step", 4);
  unseen(rank, size, &in, &out, requests, &twin, &pair);
  refrain_resume();
  seen(rank, size, &in, requests, &twin, &pair);
  refrain_region_end("solve");
  DID("refrain_region_end", "name:s", "solve");
  DO(MPI_Pcontrol(0), "level:i", 0);
  MPI_Barrier(W);
  DO(MPI_Pcontrol(2), "level:i", 2);
  DO(MPI_Pcontrol(0), "level:i", 0);
  MPI_Finalize();
  DID("MPI_Finalize", "");
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
