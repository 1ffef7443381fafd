// Sends in the modes that other programs have in blocking form only: buffered and ready ones,
// nonblocking and persistent; and an exchange in place that does not block.
#include "calls.h"

static int rank, size, to, from;
#define W MPI_COMM_WORLD  // no constant in every MPI

static void buffered(void) {
  enum { kRoom = 4096 };
  char* room = malloc(kRoom);
  void* old;
  int out = rank, in = -1, bytes = 0;
  MPI_Request r;
  DO(MPI_Buffer_attach(room, kRoom), "size:i", kRoom);
  DO(MPI_Ibsend(&out, 1, MPI_INT, to, 1, W, &r), kSendSpec " request:R+", 1, MPI_INT, to, 1, W, &r);
  L_Wait(&r, MPI_STATUS_IGNORE);
  L_Recv(&in, 1, MPI_INT, from, 1, W, MPI_STATUS_IGNORE);
  EXPECT(in == from);
  // What is received in between is elsewhere.
  static char many[kRoom];
  L_Isend(many, kRoom, MPI_CHAR, to, 5, W, &r);
  static char received[kRoom];
  L_Recv(received, kRoom, MPI_CHAR, from, 5, W, MPI_STATUS_IGNORE);
  L_Wait(&r, MPI_STATUS_IGNORE);
  DO(MPI_Bsend(&out, 1, MPI_INT, to, 6, W), kSendSpec, 1, MPI_INT, to, 6, W);
  L_Recv(&in, 1, MPI_INT, from, 6, W, MPI_STATUS_IGNORE);
  EXPECT(in == from);
  DO(MPI_Bsend_init(&out, 1, MPI_INT, to, 2, W, &r), kSendSpec " request:R+", 1, MPI_INT, to, 2, W,
     &r);
  for (int round = 0; round < 2; ++round) {
    DO(MPI_Start(&r), "request:R", &r);
    L_Wait(&r, MPI_STATUS_IGNORE);
    L_Recv(&in, 1, MPI_INT, from, 2, W, MPI_STATUS_IGNORE);
  }
  DO(MPI_Request_free(&r), "request:R", &r);
  DO(MPI_Buffer_detach(&old, &bytes), "size:i", kRoom);
  EXPECT(bytes == kRoom);
  free(room);
}

// The receive is there before the send: every rank says so to the one that sends to it.
static void ready(void) {
  int out = rank, in = -1;
  MPI_Request r, s;
  L_Irecv(&in, 1, MPI_INT, from, 3, W, &r);
  L_Barrier(W);
  DO(MPI_Irsend(&out, 1, MPI_INT, to, 3, W, &s), kSendSpec " request:R+", 1, MPI_INT, to, 3, W, &s);
  L_Wait(&s, MPI_STATUS_IGNORE);
  L_Wait(&r, MPI_STATUS_IGNORE);
  EXPECT(in == from);
  DO(MPI_Rsend_init(&out, 1, MPI_INT, to, 4, W, &s), kSendSpec " request:R+", 1, MPI_INT, to, 4, W,
     &s);
  for (int round = 0; round < 2; ++round) {
    L_Irecv(&in, 1, MPI_INT, from, 4, W, &r);
    L_Barrier(W);
    DO(MPI_Start(&s), "request:R", &s);
    L_Wait(&s, MPI_STATUS_IGNORE);
    L_Wait(&r, MPI_STATUS_IGNORE);
  }
  DO(MPI_Request_free(&s), "request:R", &s);
}

static void in_place(void) {
#if MPI_VERSION >= 4
  int value = rank;
  MPI_Request r;
  MPI_Status st;
  DO(MPI_Isendrecv_replace(&value, 1, MPI_INT, to, 5, from, 5, W, &r),
     "count:i datatype:D dest:r sendtag:t source:r recvtag:t comm:C request:R+", 1, MPI_INT, to, 5,
     from, 5, W, &r);
  L_Wait(&r, &st);
  EXPECT(value == from);
#endif
}

int main(int argc, char** argv) {
  log_init(&argc, &argv, &rank, &size);
  to = (rank + 1) % size, from = (rank + size - 1) % size;
  buffered();
  ready();
  in_place();
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
