// A handler that leaves a failing call by longjmp: the call never returns, so it is lost and
// counted as such (the manifest says how often). All others are there, with their requests.
//
// jump deep: after the jump the same function is called from further down the stack.
#include <setjmp.h>

#include "calls.h"

#define APART __attribute__((noinline))

enum { kTimes = 5 };
static int rank, size, to, from, handled;
static jmp_buf back;

static void handler(MPI_Comm* c, int* code, ...) {
  (void)c;
  int error_class;
  DO(MPI_Error_class(*code, &error_class), "errorcode:i", *code);
  ++handled;
  longjmp(back, 1);
}

static APART void neighbours(MPI_Comm c, int tag) {
  int in = -1;
  MPI_Request r[2];
  MPI_Status st[2];
  L_Irecv(&in, 1, MPI_INT, from, tag, c, &r[0]);
  L_Isend(&rank, 1, MPI_INT, to, tag, c, &r[1]);
  L_Waitall(2, r, st);
  EXPECT(in == from);
}

static APART void fail_to_send(MPI_Comm c) {
  if (setjmp(back) == 0) {
    MPI_Send(&rank, 1, MPI_INT, size + 7, 1, c);
    EXPECT(!"a send to nobody returns");
  }
}

// The message is longer than the room.
static APART void fail_to_wait(MPI_Comm c) {
  static int message[4], room[1];
  static MPI_Request r, sent;
  L_Irecv(room, 1, MPI_INT, from, 2, c, &r);
  L_Barrier(MPI_COMM_WORLD);
  L_Isend(message, 4, MPI_INT, to, 2, c, &sent);
  L_Wait(&sent, MPI_STATUS_IGNORE);
  L_Barrier(MPI_COMM_WORLD);
  if (setjmp(back) == 0) {
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    EXPECT(!"a truncated message is received");
  }
}

static APART void send_from_below(MPI_Comm c) {
  volatile int room[512];
  room[0] = room[511] = rank;
  int in = -1, out = room[511];
  L_Send(&out, 1, MPI_INT, to, 3, c);
  L_Recv(&in, 1, MPI_INT, from, 3, c, MPI_STATUS_IGNORE);
  EXPECT(in == from);
}

int main(int argc, char** argv) {
  log_init(&argc, &argv, &rank, &size);
  to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Comm dup;
  MPI_Errhandler jumps;
  DO(MPI_Comm_dup(MPI_COMM_WORLD, &dup), "comm:C newcomm:C+", MPI_COMM_WORLD, dup, "@@dup");
  DO(MPI_Comm_create_errhandler(handler, &jumps), "errhandler:E+", jumps);
  // Of both: which one hears of a request's failure is up to the MPI.
  DO(MPI_Comm_set_errhandler(MPI_COMM_WORLD, jumps), "comm:C errhandler:E", MPI_COMM_WORLD, jumps);
  DO(MPI_Comm_set_errhandler(dup, jumps), "comm:C errhandler:E", dup, jumps);
  for (int i = 0; i < kTimes; ++i) {
    fail_to_send(dup);
    EXPECT(handled == i + 1);
    if (argc > 1) send_from_below(dup);
    if (argc == 1) L_Barrier(MPI_COMM_WORLD);
    neighbours(MPI_COMM_WORLD, 10 + i);
    neighbours(dup, 20 + i);
  }
  fail_to_send(dup);
  fail_to_send(dup);
  if (argc == 1) L_Barrier(MPI_COMM_WORLD);
  fail_to_wait(dup);
  EXPECT(handled == kTimes + 3);
  neighbours(dup, 30);
  L_Barrier(MPI_COMM_WORLD);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
