// Non-blocking sends and receives with every completion call.
#include "calls.h"

enum { kN = 4 };
static int out[kN], in[kN];
static MPI_Request r[2 * kN];

static void post(int rank, int size, int tag) {
  for (int i = 0; i < kN; ++i) {
    const int from = (rank + size - 1 - i % size + size) % size, to = (rank + 1 + i) % size;
    out[i] = rank * 1000 + i;
    in[i] = -1;
    L_Irecv(&in[i], 1, MPI_INT, from, tag + i, MPI_COMM_WORLD, &r[i]);
    L_Isend(&out[i], 1, MPI_INT, to, tag + i, MPI_COMM_WORLD, &r[kN + i]);
  }
}

static void waits(int rank, int size) {
  MPI_Status st[2 * kN];
  L_Waitall(0, r, st);  // no status is another thing than MPI_STATUSES_IGNORE
  post(rank, size, 0);
  for (int i = 0; i < 2 * kN; ++i) L_Wait(&r[i], &st[i]);
  for (int i = 0; i < kN; ++i) EXPECT(in[i] % 1000 == i);
  L_Wait(&r[0], &st[0]);  // a null request: the empty status
  post(rank, size, 10);
  L_Waitall(2 * kN, r, st);
  L_Waitall(2 * kN, r, MPI_STATUSES_IGNORE);  // all null
  post(rank, size, 20);
  for (int left = 2 * kN; left > 0; --left) {
    int index;
    DO(MPI_Waitany(2 * kN, r, &index, st), "count:i array_of_requests:A index:u status:P", 2 * kN,
       2 * kN, r, index, index, st);
  }
  int index;
  DO(MPI_Waitany(2 * kN, r, &index, st), "count:i array_of_requests:A index:u status:P", 2 * kN,
     2 * kN, r, index, index, st);
  EXPECT(index == MPI_UNDEFINED);
  post(rank, size, 30);
  for (int left = 2 * kN; left > 0;) {
    int done, indices[2 * kN];
    DO(MPI_Waitsome(2 * kN, r, &done, indices, st),
       "incount:i array_of_requests:A outcount:u array_of_indices:V array_of_statuses:Q", 2 * kN,
       2 * kN, r, done, done, indices, done, indices, st);
    left -= done;
  }
  int done, indices[2 * kN];
  DO(MPI_Waitsome(2 * kN, r, &done, indices, st), "incount:i array_of_requests:A outcount:u",
     2 * kN, 2 * kN, r, done);
  EXPECT(done == MPI_UNDEFINED);
}

static void tests(int rank, int size) {
  MPI_Status st[2 * kN];
  int flag;
  post(rank, size, 40);
  for (int i = 0; i < 2 * kN; ++i) do
      DO(MPI_Test(&r[i], &flag, &st[i]), "request:R flag:f status:S", &r[i], flag, &st[i]);
    while (!flag);
  post(rank, size, 50);
  do
    DO(MPI_Testall(2 * kN, r, &flag, st), "count:i array_of_requests:A flag:f array_of_statuses:T",
       2 * kN, 2 * kN, r, flag, 2 * kN, st);
  while (!flag);
  post(rank, size, 60);
  for (int left = 2 * kN; left > 0;) {
    int index;
    MPI_Testany(2 * kN, r, &index, &flag, st);
    DID("MPI_Testany", "count:i array_of_requests:A flag:f status:P", 2 * kN, 2 * kN, r, flag,
        index, st);
    left -= flag;
  }
  post(rank, size, 70);
  for (int left = 2 * kN; left > 0;) {
    int done, indices[2 * kN];
    DO(MPI_Testsome(2 * kN, r, &done, indices, st),
       "incount:i array_of_requests:A outcount:u array_of_indices:V array_of_statuses:Q", 2 * kN,
       2 * kN, r, done, done, indices, done, indices, st);
    left -= done;
  }
  post(rank, size, 80);
  for (int i = 0; i < 2 * kN; ++i) {
    do DO(MPI_Request_get_status(r[i], &flag, &st[i]), "flag:i", flag);
    while (!flag);
    L_Wait(&r[i], &st[i]);
  }
}

// Requests that are freed before they complete, and ones that live across other traffic.
static void freed(int rank, int size) {
  int a = rank, b = -1;
  MPI_Request send, old;
  L_Isend(&a, 1, MPI_INT, (rank + 1) % size, 90, MPI_COMM_WORLD, &send);
  old = send;
  (void)old;
  DO(MPI_Request_free(&send), "request:R", &send);
  L_Recv(&b, 1, MPI_INT, (rank + size - 1) % size, 90, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  EXPECT(b == (rank + size - 1) % size);
}

int main(int argc, char** argv) {
  int rank, size;
  log_init(&argc, &argv, &rank, &size);
  waits(rank, size);
  tests(rank, size);
  freed(rank, size);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
