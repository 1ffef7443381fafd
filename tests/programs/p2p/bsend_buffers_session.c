// Buffers of a session for buffered sends (MPI 4.1): attached, flushed in both ways, taken back.
#include "calls.h"

int main(int argc, char** argv) {
#if MPI_VERSION * 10 + MPI_SUBVERSION < 41
  (void)argc, (void)argv;
  SKIP("no buffers of sessions in this MPI");
#else
  enum { kBytes = 1 << 14 };
  static char room[kBytes];
  int rank, size, in, bytes;
  MPI_Count many_bytes;
  void* back;
  MPI_Session s;
  MPI_Group g;
  MPI_Comm c;
  MPI_Request r;
  log_init(&argc, &argv, &rank, &size);
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  DO(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s), "info:N errhandler:E session:X+",
     MPI_INFO_NULL, MPI_ERRORS_RETURN, s);
  DO(MPI_Group_from_session_pset(s, "mpi://WORLD", &g), "session:X pset_name:s newgroup:G+", s,
     "mpi://WORLD", g);
  DO(MPI_Comm_create_from_group(g, "refrain.buffers", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c),
     "group:G stringtag:s info:N errhandler:E newcomm:C+", g, "refrain.buffers", MPI_INFO_NULL,
     MPI_ERRORS_RETURN, c, "@@session");
  L_Group_free(&g);
  for (int round = 0; round < 4; ++round) {
    if (round % 2 == 0)
      DO(MPI_Session_attach_buffer(s, room, kBytes), "session:X buffer:b size:i", s, room, "data",
         kBytes);
    else
      DO(MPI_Session_attach_buffer_c(s, room, kBytes), "session:X buffer:b size:l", s, room, "data",
         (long long)kBytes);
    DO(MPI_Bsend(&rank, 1, MPI_INT, to, 7, c), kSendSpec, 1, MPI_INT, to, 7, c);
    L_Recv(&in, 1, MPI_INT, from, 7, c, MPI_STATUS_IGNORE);
    EXPECT(in == from);
    DO(MPI_Session_flush_buffer(s), "session:X", s);
    DO(MPI_Session_iflush_buffer(s, &r), "session:X request:R+", s, &r);
    L_Wait(&r, MPI_STATUS_IGNORE);
    if (round % 2 == 0)
      DO(MPI_Session_detach_buffer(s, &back, &bytes), "session:X size:i", s, bytes);
    else
      DO(MPI_Session_detach_buffer_c(s, &back, &many_bytes), "session:X size:l", s,
         (long long)many_bytes);
    EXPECT(back == room && (round % 2 == 0 ? bytes : (int)many_bytes) == kBytes);
  }
  L_Comm_free(&c);
  const MPI_Session old = s;
  DO(MPI_Session_finalize(&s), "session:X-", old);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
#endif
}
