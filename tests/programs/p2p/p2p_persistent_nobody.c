// Persistent requests at the ends of a line of ranks, where the partner is MPI_PROC_NULL, and calls
// that complete some of several requests. MPICH 4.0 takes those with nobody for inactive there, so
// how many calls it takes until nothing is left depends on the MPI.
#include "calls.h"

enum { kN = 4 };
static int rank, size, in[2], out[2];
static MPI_Request r[kN];

static void start(int round) {
  out[0] = out[1] = 100 * rank + round;
  if (round % 2)
    DO(MPI_Startall(kN, r), "count:i array_of_requests:A", kN, kN, r);
  else
    for (int i = 0; i < kN; ++i) DO(MPI_Start(&r[i]), "request:R", &r[i]);
}

static void check(int round) {
  EXPECT(rank == 0 || in[0] == 100 * (rank - 1) + round);
  EXPECT(rank == size - 1 || in[1] == 100 * (rank + 1) + round);
}

static void wait_for_any(void) {
  for (int index = 0; index != MPI_UNDEFINED;) {
    MPI_Status st;
    DO(MPI_Waitany(kN, r, &index, &st), "count:i array_of_requests:A index:u", kN, kN, r, index);
  }
}

static void wait_for_some(void) {
  for (int done = 0; done != MPI_UNDEFINED;) {
    int indices[kN];
    MPI_Status st[kN];
    DO(MPI_Waitsome(kN, r, &done, indices, st), "incount:i array_of_requests:A outcount:u", kN, kN,
       r, done);
  }
}

static void test_some(void) {
  for (int done = 0; done != MPI_UNDEFINED;) {
    int indices[kN];
    DO(MPI_Testsome(kN, r, &done, indices, MPI_STATUSES_IGNORE),
       "incount:i array_of_requests:A outcount:u", kN, kN, r, done);
  }
}

static void test_any(void) {
  for (int index = 0; index != MPI_UNDEFINED;) {
    int flag = 0;
    DO(MPI_Testany(kN, r, &index, &flag, MPI_STATUS_IGNORE), "count:i array_of_requests:A flag:f",
       kN, kN, r, flag);
    if (!flag) index = 0;
  }
}

int main(int argc, char** argv) {
  log_init(&argc, &argv, &rank, &size);
  const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
  DO(MPI_Recv_init(&in[0], 1, MPI_INT, left, 1, MPI_COMM_WORLD, &r[0]), kRecvSpec " request:R+", 1,
     MPI_INT, left, 1, MPI_COMM_WORLD, &r[0]);
  DO(MPI_Send_init(&out[0], 1, MPI_INT, right, 1, MPI_COMM_WORLD, &r[1]), kSendSpec " request:R+",
     1, MPI_INT, right, 1, MPI_COMM_WORLD, &r[1]);
  DO(MPI_Recv_init(&in[1], 1, MPI_INT, right, 2, MPI_COMM_WORLD, &r[2]), kRecvSpec " request:R+", 1,
     MPI_INT, right, 2, MPI_COMM_WORLD, &r[2]);
  DO(MPI_Ssend_init(&out[1], 1, MPI_INT, left, 2, MPI_COMM_WORLD, &r[3]), kSendSpec " request:R+",
     1, MPI_INT, left, 2, MPI_COMM_WORLD, &r[3]);
  static void (*const complete[])(void) = {wait_for_any, wait_for_some, test_any, test_some};
  for (int round = 0; round < 8; ++round) {
    start(round);
    complete[round / 2]();
    check(round);
    if (round % 2)  // else what no call has named is started again as it is
      DO(MPI_Waitall(kN, r, MPI_STATUSES_IGNORE), "count:i array_of_requests:A", kN, kN, r);
  }
  for (int i = 0; i < kN; ++i) DO(MPI_Request_free(&r[i]), "request:R", &r[i]);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
