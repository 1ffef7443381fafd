// One long array of requests that is polled again and again while single requests of it end, come
// anew, move, are waited for by themselves, or are persistent: what the recorder remembers of the
// array must always be what the array is. More requests than the recorder compares one by one.
#include "calls.h"

enum { kN = 300, kMore = 40 };
static int rank, size, in[kN + kMore], out, indices[kN + kMore];
#define W MPI_COMM_WORLD
static MPI_Request r[kN + kMore], spare;
static MPI_Status statuses[kN + kMore];

static void post(int i) {
  if (i % 9 == 4)
    L_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, i, W, &r[i]);
  else
    L_Irecv(&in[i], 1, MPI_INT, rank, i, W, &r[i]);
}

static void message(int i) { L_Send(&out, 1, MPI_INT, rank, i, W); }

static int some(int n, int wait) {
  int done;
  if (wait)
    DO(MPI_Waitsome(n, r, &done, indices, statuses),
       "incount:i array_of_requests:A outcount:i array_of_indices:V array_of_statuses:Q", n, n, r,
       done, done, indices, done, indices, statuses);
  else
    DO(MPI_Testsome(n, r, &done, indices, statuses),
       "incount:i array_of_requests:A outcount:i array_of_indices:V array_of_statuses:Q", n, n, r,
       done, done, indices, done, indices, statuses);
  return done;
}

static void poll(int n, int times) {
  int flag, index;
  for (int i = 0; i < times; ++i) {
    MPI_Testall(n, r, &flag, statuses);
    EXPECT(!flag);
    DID("MPI_Testall", "count:i array_of_requests:A flag:i", n, n, r, flag);
    MPI_Testany(n, r, &index, &flag, statuses);
    EXPECT(!flag);
    DID("MPI_Testany", "count:i array_of_requests:A flag:i", n, n, r, flag);
    EXPECT(some(n, 0) == 0);
  }
}

// So many of the first n requests end.
static void get(int n, int how_many) {
  for (int left = how_many; left > 0;) left -= some(n, left % 2);
}

static void singles(void) {
  poll(kN, 3);
  for (int i = 0; i < kN; i += 50) message(i);
  get(kN, (kN + 49) / 50);
  poll(kN, 2);
  for (int i = 0; i < kN; i += 50) post(i);  // perhaps with handles that others had
  poll(kN, 2);
  for (int i = 7; i < kN; i += 100) {  // by themselves; only every other one comes anew
    message(i);
    L_Wait(&r[i], &statuses[0]);
    if (i % 200 == 7) post(i);
  }
  poll(kN, 2);
  for (int i = 107; i < kN; i += 200) post(i);
}

static void moves(void) {
  for (int i = 0; i < 5; ++i) {  // swaps neighbours, and what is far apart
    const int a = 3 * i, b = i % 2 ? a + 1 : kN - 1 - a;
    spare = r[a];
    log_move_request(&r[a], &spare);
    r[a] = r[b];
    log_move_request(&r[b], &r[a]);
    r[b] = spare;
    log_move_request(&spare, &r[b]);
    poll(kN, 1);
  }
  poll(kN - 60, 2);  // fewer, then more
  for (int i = kN; i < kN + kMore; ++i) post(i);
  poll(kN + kMore, 2);
  for (int i = kN; i < kN + kMore; ++i) message(i);
  get(kN + kMore, kMore);
  poll(kN, 1);
}

static void persistent(void) {
  DO(MPI_Recv_init(&in[kN], 1, MPI_INT, rank, kN, W, &r[kN]), kRecvSpec " request:R+", 1, MPI_INT,
     rank, kN, W, &r[kN]);
  for (int i = 0; i < 3; ++i) {
    poll(kN + 1, 1);  // idle
    DO(MPI_Start(&r[kN]), "request:R", &r[kN]);
    poll(kN + 1, 2);
    message(kN);
    if (i == 1)
      L_Wait(&r[kN], &statuses[0]);
    else
      get(kN + 1, 1);
    poll(kN + 1, 1);
  }
  DO(MPI_Request_free(&r[kN]), "request:R", &r[kN]);
  poll(kN + 1, 1);
}

static void any(void) {
  int index, flag = 0;
  for (int i = 10; i < kN; i += 90) {
    message(i);
    if (i % 20 == 10) {
      DO(MPI_Waitany(kN, r, &index, statuses), "count:i array_of_requests:A index:u status:P", kN,
         kN, r, index, index, statuses);
    } else {
      do {
        MPI_Testany(kN, r, &index, &flag, statuses);
        if (flag)
          DID("MPI_Testany", "count:i array_of_requests:A index:u flag:i status:P", kN, kN, r,
              index, flag, index, statuses);
        else
          DID("MPI_Testany", "count:i array_of_requests:A flag:i", kN, kN, r, flag);
      } while (!flag);
    }
    poll(kN, 1);
  }
}

int main(int argc, char** argv) {
  log_init(&argc, &argv, &rank, &size);
  for (int i = 0; i < kN; ++i) post(i);
  singles();
  moves();
  persistent();
  any();
  for (int i = 0; i < kN; ++i)
    if ((i - 10) % 90 != 0 || i < 10) message(i);
  L_Waitall(kN, r, statuses);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
