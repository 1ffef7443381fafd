// Buffers of the process and of a communicator for buffered sends (MPI 4.1): attached, flushed in
// both ways, taken back; of the program's memory, and MPI's own (MPI_BUFFER_AUTOMATIC).
#include "calls.h"

#if MPI_VERSION * 10 + MPI_SUBVERSION >= 41
enum { kBytes = 1 << 14, kCount = 10 };
static char room[kBytes];
static int rank, size, round_number;

// One message around the ring. It is received before any flush, which waits for the receivers.
static void send_and_receive(MPI_Comm c) {
  int out[kCount], in[kCount];
  const int to = (rank + 1) % size, from = (rank + size - 1) % size, tag = ++round_number;
  for (int i = 0; i < kCount; ++i) out[i] = rank * 100 + tag + i;
  DO(MPI_Bsend(out, kCount, MPI_INT, to, tag, c), kSendSpec, kCount, MPI_INT, to, tag, c);
  out[3] = -1;
  L_Recv(in, kCount, MPI_INT, from, tag, c, MPI_STATUS_IGNORE);
  EXPECT(in[3] == from * 100 + tag + 3);
}

static void of_process(MPI_Comm c) {
  void* back;
  int bytes;
  MPI_Request r;
  DO(MPI_Buffer_attach(room, kBytes), "buffer:b size:i", room, "data", kBytes);
  send_and_receive(c);
  DO(MPI_Buffer_flush(), "");
  send_and_receive(c);
  DO(MPI_Buffer_iflush(&r), "request:R+", &r);
  L_Wait(&r, MPI_STATUS_IGNORE);
  DO(MPI_Buffer_detach(&back, &bytes), "size:i", kBytes);
  EXPECT(back == room && bytes == kBytes);
}

static void of_communicator(MPI_Comm c) {
  void* back;
  int bytes;
  MPI_Count many_bytes;
  MPI_Request r;
  DO(MPI_Comm_attach_buffer(c, room, kBytes), "comm:C buffer:b size:i", c, room, "data", kBytes);
  send_and_receive(c);
  DO(MPI_Comm_flush_buffer(c), "comm:C", c);
  send_and_receive(c);
  DO(MPI_Comm_iflush_buffer(c, &r), "comm:C request:R+", c, &r);
  L_Wait(&r, MPI_STATUS_IGNORE);
  DO(MPI_Comm_detach_buffer(c, &back, &bytes), "comm:C size:i", c, kBytes);
  EXPECT(back == room && bytes == kBytes);
  DO(MPI_Comm_attach_buffer_c(c, room, kBytes), "comm:C buffer:b size:l", c, room, "data",
     (long long)kBytes);
  send_and_receive(c);
  DO(MPI_Comm_detach_buffer_c(c, &back, &many_bytes), "comm:C size:l", c, (long long)kBytes);
  EXPECT(back == room && many_bytes == kBytes);
  DO(MPI_Comm_attach_buffer(c, MPI_BUFFER_AUTOMATIC, 0), "comm:C buffer:s size:i", c,
     "MPI_BUFFER_AUTOMATIC", 0);
  send_and_receive(c);
  DO(MPI_Comm_flush_buffer(c), "comm:C", c);
  DO(MPI_Comm_detach_buffer(c, &back, &bytes), "comm:C size:i", c, bytes);
  EXPECT(back == MPI_BUFFER_AUTOMATIC);
}
#endif

int main(int argc, char** argv) {
#if MPI_VERSION * 10 + MPI_SUBVERSION < 41
  (void)argc, (void)argv;
  SKIP("no buffers of communicators in this MPI");
#else
  MPI_Comm c;
  log_init(&argc, &argv, &rank, &size);
  DO(MPI_Comm_dup(MPI_COMM_WORLD, &c), "comm:C newcomm:C+", MPI_COMM_WORLD, c, "@@buffered");
  for (int i = 0; i < 2; ++i) {
    of_process(c);
    of_communicator(c);
  }
  L_Comm_free(&c);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
#endif
}
