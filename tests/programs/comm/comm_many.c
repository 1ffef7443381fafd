// Many communicators at once: 600 of different groups, 40 duplicates of one, freed in a mixed order
// while others are made, and made again. A name belongs to one living communicator and is the same
// on all members, though the ranks have had different numbers of communicators by then.
#include "calls.h"

enum { kSplits = 600, kDups = 40, kAgain = 150 };
static int rank, size;
#define W MPI_COMM_WORLD  // no constant in every MPI
static MPI_Comm splits[kSplits], dups[kDups];

static void split(int i) {
  // Everybody in another order; or all but one; or the odd and the even ones.
  int color = 0;
  if (i % 3 == 1 && rank == i % size) color = MPI_UNDEFINED;
  if (i % 3 == 2) color = rank % 2;
  char alias[32];
  snprintf(alias, sizeof alias, "@@split%d.%d", i, color == 1);
  DO(MPI_Comm_split(W, color, -rank, &splits[i]), "comm:C color:u key:i newcomm:C+", W, color,
     -rank, splits[i], alias);
}

static void dup_of(int i, MPI_Comm parent) {
  char alias[32];
  snprintf(alias, sizeof alias, "@@dup%d", i);
  DO(MPI_Comm_dup(parent, &dups[i]), "comm:C newcomm:C+", parent, dups[i], alias);
}

static void end(MPI_Comm* c) {
  if (*c != MPI_COMM_NULL) L_Comm_free(c);
}

// One message around the ring of each: the matrix has its world ranks.
static void use(MPI_Comm c) {
  if (c == MPI_COMM_NULL) return;
  int me, n, in = -1;
  L_Comm_rank(c, &me);
  L_Comm_size(c, &n);
  const int to = (me + 1) % n, from = (me + n - 1) % n;
  DO(MPI_Sendrecv(&me, 1, MPI_INT, to, 1, &in, 1, MPI_INT, from, 1, c, MPI_STATUS_IGNORE),
     "sendcount:i sendtype:D dest:r sendtag:t recvcount:i recvtype:D source:r recvtag:t comm:C", 1,
     MPI_INT, to, 1, 1, MPI_INT, from, 1, c);
  EXPECT(in == from);
}

int main(int argc, char** argv) {
  log_init(&argc, &argv, &rank, &size);
  for (int i = 0; i < kSplits; ++i) split(i);
  for (int i = 0; i < kDups; ++i) dup_of(i, splits[0]);
  for (int i = 0; i < kSplits; i += 29) use(splits[i]);
  for (int i = 0; i < kDups; ++i) use(dups[i]);
  // 7 and 40, and 11 and 600, have no common divisor: every one is freed once.
  for (int i = 0; i < kDups; ++i) {
    L_Comm_free(&dups[i * 7 % kDups]);
    if (i % 4 == 3) dup_of(i * 7 % kDups, splits[0]);
  }
  for (int i = 0; i < kAgain; ++i) end(&splits[i * 11 % kSplits]);
  for (int i = kAgain - 1; i >= 0; --i) split(i * 11 % kSplits);
  for (int i = 0; i < kDups; ++i) {
    const int k = i * 7 % kDups;
    if (i % 4 != 3) dup_of(k, W);
    use(dups[k]);
  }
  for (int i = 0; i < kSplits; ++i) {
    end(&splits[i * 11 % kSplits]);
    if (i < kDups) L_Comm_free(&dups[i]);
  }
  for (int i = 0; i < 5; ++i) {
    split(i);
    use(splits[i]);
  }
  for (int i = 0; i < 5; ++i) end(&splits[i]);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
