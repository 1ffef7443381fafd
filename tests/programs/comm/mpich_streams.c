// Streams of MPICH: made, tied to a communicator that carries messages, driven by hand and by a
// thread of MPICH's own, ended.
#include "calls.h"

int main(int argc, char** argv) {
#if !defined(MPICH_NUMVERSION) || MPICH_NUMVERSION < 40200000
  (void)argc, (void)argv;
  SKIP("no streams in this MPI");
#else
  int rank, size, in;
  MPI_Request r;
  MPI_Comm c, plain;
  MPIX_Stream stream, found, old;
  L_Init_multiple(argc, argv);
  L_Comm_rank(MPI_COMM_WORLD, &rank);
  L_Comm_size(MPI_COMM_WORLD, &size);
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  for (int round = 0; round < 3; ++round) {
    DO(MPIX_Stream_create(MPI_INFO_NULL, &stream), "info:N stream:Z+", MPI_INFO_NULL, stream);
    DO(MPIX_Stream_comm_create(MPI_COMM_WORLD, stream, &c), "comm:C stream:Z newcomm:C+",
       MPI_COMM_WORLD, stream, c, "@@streamed");
    DO(MPIX_Comm_get_stream(c, 0, &found), "comm:C idx:i stream:Z", c, 0, found);
    EXPECT(found == stream);
    DO(MPIX_Stream_comm_create(MPI_COMM_WORLD, MPIX_STREAM_NULL, &plain),
       "comm:C stream:Z newcomm:C+", MPI_COMM_WORLD, MPIX_STREAM_NULL, plain, "@@plain");
    L_Comm_rank(c, &rank);
    L_Irecv(&in, 1, MPI_INT, from, round, c, &r);
    L_Send(&rank, 1, MPI_INT, to, round, c);
    DO(MPIX_Stream_progress(stream), "stream:Z", stream);
    DO(MPIX_Stream_progress(MPIX_STREAM_NULL), "stream:Z", MPIX_STREAM_NULL);
    L_Wait(&r, MPI_STATUS_IGNORE);
    EXPECT(in == from);
    DO(MPIX_Start_progress_thread(stream), "stream:Z", stream);
    L_Barrier(plain);
    DO(MPIX_Stop_progress_thread(stream), "stream:Z", stream);
    L_Comm_free(&plain);
    L_Comm_free(&c);
    old = stream;
    DO(MPIX_Stream_free(&stream), "stream:Z-", old);
  }
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
#endif
}
