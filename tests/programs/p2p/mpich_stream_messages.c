// Messages of MPICH from one of several streams of a communicator to one of several others.
#include "calls.h"

#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 40200000
#define HAS_STREAM_MESSAGES
#endif
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 50000000 && MPICH_NUMVERSION < 50100000
#undef HAS_STREAM_MESSAGES
#endif

#ifdef HAS_STREAM_MESSAGES
enum { kStreams = 2, kCount = 5 };
static int out[kCount], in[kCount], rank, size, to, from;

#define kSendLarge "count:l datatype:D dest:r tag:t comm:C"
#define kRecvLarge "count:l datatype:D source:r tag:t comm:C"
#define kIndices " source_stream_index:i dest_stream_index:i"

// MPICH 4.2 does not fill the status of MPIX_Stream_recv: it is not compared.
static void exchange(MPI_Comm c, int mine, int theirs) {
  MPI_Status st;
  MPI_Request r;
  const int tag = 10 * mine + theirs;
  DO(MPIX_Stream_isend(out, kCount, MPI_INT, to, tag, c, mine, theirs, &r),
     kSendSpec kIndices " request:R+", kCount, MPI_INT, to, tag, c, mine, theirs, &r);
  DO(MPIX_Stream_recv(in, kCount, MPI_INT, from, tag, c, mine, theirs, &st), kRecvSpec kIndices,
     kCount, MPI_INT, from, tag, c, mine, theirs);
  EXPECT(in[0] == from);
  L_Wait(&r, &st);
  DO(MPIX_Stream_irecv(in, kCount, MPI_INT, from, tag, c, mine, theirs, &r),
     kRecvSpec kIndices " request:R+", kCount, MPI_INT, from, tag, c, mine, theirs, &r);
  DO(MPIX_Stream_send(out, kCount, MPI_INT, to, tag, c, mine, theirs), kSendSpec kIndices, kCount,
     MPI_INT, to, tag, c, mine, theirs);
  L_Wait(&r, &st);
}

static void exchange_large(MPI_Comm c, int mine, int theirs) {
  const long long n = kCount;
  MPI_Status st;
  MPI_Request r;
  DO(MPIX_Stream_isend_c(out, n, MPI_INT, to, 5, c, mine, theirs, &r),
     kSendLarge kIndices " request:R+", n, MPI_INT, to, 5, c, mine, theirs, &r);
  DO(MPIX_Stream_recv_c(in, n, MPI_INT, from, 5, c, mine, theirs, &st), kRecvLarge kIndices, n,
     MPI_INT, from, 5, c, mine, theirs);
  EXPECT(in[0] == from);
  L_Wait(&r, &st);
  DO(MPIX_Stream_irecv_c(in, n, MPI_INT, from, 5, c, mine, theirs, &r),
     kRecvLarge kIndices " request:R+", n, MPI_INT, from, 5, c, mine, theirs, &r);
  DO(MPIX_Stream_send_c(out, n, MPI_INT, to, 5, c, mine, theirs), kSendLarge kIndices, n, MPI_INT,
     to, 5, c, mine, theirs);
  L_Wait(&r, &st);
}
#endif

int main(int argc, char** argv) {
#ifndef HAS_STREAM_MESSAGES
  (void)argc, (void)argv;
  SKIP("no messages of streams in this MPI, or it ends the job when they are prepared (MPICH 5.0)");
#else
  MPIX_Stream streams[kStreams];
  MPI_Comm c;
  log_init(&argc, &argv, &rank, &size);
  to = (rank + 1) % size, from = (rank + size - 1) % size;
  for (int i = 0; i < kStreams; ++i)
    DO(MPIX_Stream_create(MPI_INFO_NULL, &streams[i]), "info:N stream:Z+", MPI_INFO_NULL,
       streams[i]);
  DO(MPIX_Stream_comm_create_multiplex(MPI_COMM_WORLD, kStreams, streams, &c),
     "comm:C count:i array_of_streams:z newcomm:C+", MPI_COMM_WORLD, kStreams, kStreams, streams, c,
     "@@several");
  L_Comm_rank(c, &rank);
  out[0] = rank;
  for (int mine = 0; mine < kStreams; ++mine)
    for (int theirs = 0; theirs < kStreams; ++theirs) {
      exchange(c, mine, theirs);
      exchange_large(c, mine, theirs);
    }
  // MPICH 4.2 may crash in MPI_Comm_free of such a communicator, so nothing is freed.
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
#endif
}
