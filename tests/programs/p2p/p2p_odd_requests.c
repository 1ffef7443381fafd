// Requests treated oddly: freed while they are active and their variables used again at once,
// arrays of them on the heap that move, persistent ones made and freed over and over, and requests
// of messages, collectives and a communicator to be in one array.
#include "calls.h"

enum { kN = 16 };
static int rank, size, to, from, a[kN], b[kN];
#define W MPI_COMM_WORLD  // no constant in every MPI
static MPI_Request r[kN];
static MPI_Status st[kN];

static void freed_while_active(void) {
  for (int i = 0; i < kN; ++i) L_Isend(&a[i], 1, MPI_INT, to, i % 3, W, &r[i]);
  for (int i = 0; i < kN; i += 5) DO(MPI_Request_free(&r[i]), "request:R", &r[i]);
  for (int i = 0; i < kN; ++i) L_Recv(&b[i], 1, MPI_INT, from, i % 3, W, MPI_STATUS_IGNORE);
  for (int i = 0; i < kN; i += 5) L_Isend(&a[i], 1, MPI_INT, to, 77, W, &r[i]);
  for (int left = kN; left > 0;) {
    int done, indices[kN];
    DO(MPI_Waitsome(kN, r, &done, indices, st),
       "incount:i array_of_requests:A outcount:u array_of_indices:V array_of_statuses:Q", kN, kN, r,
       done, done, indices, done, indices, st);
    left -= done;
  }
  for (int i = 0; i < kN; i += 5) L_Recv(&b[i], 1, MPI_INT, from, 77, W, MPI_STATUS_IGNORE);
}

static void moved(void) {
  MPI_Request* old = malloc(8 * sizeof *old);
  for (int i = 0; i < 4; ++i) L_Irecv(&b[i], 1, MPI_INT, from, 10 + i, W, &old[i]);
  for (int i = 0; i < 4; ++i) L_Isend(&a[i], 1, MPI_INT, to, 10 + i, W, &old[4 + i]);
  MPI_Request* new = malloc(16 * sizeof *new);
  for (int i = 4; i < 8; ++i) L_Wait(&old[i], &st[0]);
  for (int i = 0; i < 4; ++i) {
    new[7 - i] = old[i];
    log_move_request(&old[i], &new[7 - i]);
  }
  free(old);
  L_Waitall(4, new + 4, st);
  free(new);
}

static void persistent(int round) {
  DO(MPI_Send_init(a, 1, MPI_INT, to, 20, W, &r[0]), kSendSpec " request:R+", 1, MPI_INT, to, 20, W,
     &r[0]);
  DO(MPI_Recv_init(b, 1, MPI_INT, from, 20, W, &r[1]), kRecvSpec " request:R+", 1, MPI_INT, from,
     20, W, &r[1]);
  for (int i = 0; i < 3; ++i) {
    if (i % 2) {
      DO(MPI_Startall(2, r), "count:i array_of_requests:A", 2, 2, r);
    } else {
      DO(MPI_Start(&r[1]), "request:R", &r[1]);
      DO(MPI_Start(&r[0]), "request:R", &r[0]);
    }
    if (i == 0) L_Waitall(2, r, st);
    for (int left = i == 0 ? 0 : 2, index; left > 0; --left)
      DO(MPI_Waitany(2, r, &index, st), "count:i array_of_requests:A index:u status:P", 2, 2, r,
         index, index, st);
  }
  L_Waitall(2, r, MPI_STATUSES_IGNORE);  // both inactive
  DO(MPI_Request_free(&r[round % 2]), "request:R", &r[round % 2]);
  DO(MPI_Request_free(&r[1 - round % 2]), "request:R", &r[1 - round % 2]);
}

static void of_all_sorts(void) {
  int sum, one = 1;
  MPI_Comm late;
  DO(MPI_Ibarrier(W, &r[0]), "comm:C request:R+", W, &r[0]);
  DO(MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, W, &r[1]),
     "count:i datatype:D op:O comm:C request:R+", 1, MPI_INT, MPI_SUM, W, &r[1]);
  MPI_Comm_idup(W, &late, &r[2]);
  DID("MPI_Comm_idup", "comm:C newcomm:C+ request:R+", W, late, "@@late", &r[2]);
  L_Isend(a, 1, MPI_INT, to, 30, W, &r[3]);
  L_Irecv(b, 1, MPI_INT, from, 30, W, &r[4]);
  DO(MPI_Waitall(5, r, st), "count:i array_of_requests:A", 5, 5, r);
  EXPECT(sum == size && st[4].MPI_SOURCE == from);
  L_Barrier(late);
  L_Comm_free(&late);
}

int main(int argc, char** argv) {
  log_init(&argc, &argv, &rank, &size);
  to = (rank + 1) % size, from = (rank + size - 1) % size;
  for (int round = 0; round < 4; ++round) {
    freed_while_active();
    moved();
    persistent(round);
    of_all_sorts();
  }
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
