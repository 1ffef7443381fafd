// Work of the program's own in MPICH's progress, and requests that are asked without progress.
#include "calls.h"

#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 50000000
static int polls, done;

static int second(MPIX_Async_thing thing) {
  void* state;
  GET(state, MPIX_Async_get_state(thing), "");
  EXPECT(state == &done);
  ++done;
  return MPIX_ASYNC_DONE;
}

static int first(MPIX_Async_thing thing) {
  void* state;
  GET(state, MPIX_Async_get_state(thing), "");
  EXPECT(state == &polls);
  if (++polls < 3) return MPIX_ASYNC_NOPROGRESS;
  DO(MPIX_Async_spawn(thing, second, &done, MPIX_STREAM_NULL), "stream:Z", MPIX_STREAM_NULL);
  return MPIX_ASYNC_DONE;
}
#endif

int main(int argc, char** argv) {
#if !defined(MPICH_NUMVERSION) || MPICH_NUMVERSION < 50000000
  (void)argc, (void)argv;
  SKIP("no work of the program's own in this MPI's progress");
#else
  int rank, size, in, complete;
  MPI_Request r;
  log_init(&argc, &argv, &rank, &size);
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  DO(MPIX_Async_start(first, &polls, MPIX_STREAM_NULL), "stream:Z", MPIX_STREAM_NULL);
  while (done == 0) DO(MPIX_Stream_progress(MPIX_STREAM_NULL), "stream:Z", MPIX_STREAM_NULL);
  EXPECT(polls == 3 && done == 1);
  L_Irecv(&in, 1, MPI_INT, from, 1, MPI_COMM_WORLD, &r);
  GET(complete, MPIX_Request_is_complete(r), "request:R =return:i", &r, 0);
  EXPECT(!complete);
  L_Barrier(MPI_COMM_WORLD);
  L_Send(&rank, 1, MPI_INT, to, 1, MPI_COMM_WORLD);
  while (!complete) {
    DO(MPIX_Stream_progress(MPIX_STREAM_NULL), "stream:Z", MPIX_STREAM_NULL);
    GET(complete, MPIX_Request_is_complete(r), "request:R =return:i", &r, complete);
  }
  L_Wait(&r, MPI_STATUS_IGNORE);
  EXPECT(in == from);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
#endif
}
