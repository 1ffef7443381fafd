// Thousands of requests outstanding at once, 3000 sends and 3000 receives. The receivers keep up,
// so that most of the sends are complete at once: for those Open MPI and MPICH hand out one shared
// handle. A third each is completed by Waitall, by Wait from the last to the first, and by Testsome
// and Waitsome.
#include "calls.h"

enum { kN = 3000, kThird = kN / 3, kRounds = 2, kPause = 30 };
static int rank, size, out[kN], in[kN], indices[kThird];
static MPI_Request sends[kN], receives[kN];
static MPI_Status statuses[kThird];

static void post(int round) {
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  for (int i = 0; i < kN; ++i)
    L_Irecv(&in[i], 1, MPI_INT, from, i % 7, MPI_COMM_WORLD, &receives[i]);
  for (int i = 0; i < kN; ++i) {
    if (i % kPause == 0) L_Barrier(MPI_COMM_WORLD);  // what is on its way arrives
    out[i] = rank * 100000 + round * 10000 + i;
    L_Isend(&out[i], 1, MPI_INT, to, i % 7, MPI_COMM_WORLD, &sends[i]);
  }
}

static void some(MPI_Request* r) {
  for (int left = kThird, turn = 0; left > 0; ++turn) {
    int done;
    if (turn % 2 == 0)
      DO(MPI_Testsome(kThird, r, &done, indices, statuses),
         "incount:i array_of_requests:A outcount:i array_of_indices:V array_of_statuses:Q", kThird,
         kThird, r, done, done, indices, done, indices, statuses);
    else
      DO(MPI_Waitsome(kThird, r, &done, indices, statuses),
         "incount:i array_of_requests:A outcount:i array_of_indices:V array_of_statuses:Q", kThird,
         kThird, r, done, done, indices, done, indices, statuses);
    left -= done;
  }
}

static void complete(MPI_Request* r) {
  for (int i = 2 * kThird - 1; i >= kThird; --i) L_Wait(&r[i], &statuses[0]);
  some(r + 2 * kThird);
  L_Waitall(kThird, r, statuses);
}

int main(int argc, char** argv) {
  log_init(&argc, &argv, &rank, &size);
  for (int round = 0; round < kRounds; ++round) {
    post(round);
    L_Barrier(MPI_COMM_WORLD);
    complete(round % 2 == 0 ? sends : receives);
    complete(round % 2 == 0 ? receives : sends);
    const int from = (rank + size - 1) % size;
    for (int i = 0; i < kN; ++i) EXPECT(in[i] == from * 100000 + round * 10000 + i);
  }
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
