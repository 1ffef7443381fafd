// Calls that come again in an order that nobody can expect, from two places, while what their
// handles stand for changes. What the recorder knows of an earlier call with the same arguments
// must not be taken for one with another communicator, type, place or state of the requests.
#include "calls.h"

enum { kN = 5, kRounds = 120 };
static int rank, size, out[8], in[kN][8], order[kN];
static unsigned state = 12345;
static MPI_Comm comms[2], comm;
static MPI_Datatype types[2], type;
static MPI_Request r[kN];

// The same on all ranks, so that communicators have the same names.
static int choose(int n) {
  state = state * 1103515245u + 12345u;
  return (int)(state >> 16) % n;
}

static void shuffle(void) {
  for (int i = 0; i < kN; ++i) order[i] = i;
  for (int i = kN - 1; i > 0; --i) {
    const int j = choose(i + 1), other = order[i];
    order[i] = order[j];
    order[j] = other;
  }
}

static void complete(void) {
  MPI_Status status, statuses[kN];
  int index, flag, indices[kN];
  switch (choose(4)) {
    case 0:
      DO(MPI_Waitany(kN, r, &index, &status), "count:i array_of_requests:A index:u status:P", kN,
         kN, r, index, index, &status);
      break;
    case 1:
      DO(MPI_Waitany(kN, r, &index, MPI_STATUS_IGNORE), "count:i array_of_requests:A index:u", kN,
         kN, r, index);
      break;
    case 2:
      do {
        MPI_Testany(kN, r, &index, &flag, &status);
        if (flag)
          DID("MPI_Testany", "count:i array_of_requests:A index:u flag:i status:P", kN, kN, r,
              index, flag, index, &status);
        else
          DID("MPI_Testany", "count:i array_of_requests:A flag:i", kN, kN, r, flag);
      } while (!flag);
      break;
    default:
      DO(MPI_Waitsome(kN, r, &flag, indices, statuses),
         "incount:i array_of_requests:A outcount:i array_of_indices:V array_of_statuses:Q", kN, kN,
         r, flag, flag, indices, flag, indices, statuses);
  }
}

static void exchange(void) {
  const int any = choose(3) == 0;
  shuffle();
  for (int k = 0; k < kN; ++k) {
    const int i = order[k];
    L_Irecv(in[i], 1, type, any ? MPI_ANY_SOURCE : rank, i, comm, &r[i]);
  }
  shuffle();
  for (int k = 0; k < kN; ++k) {
    L_Send(out, 1, type, rank, order[k], comm);
    complete();
  }
}

static void from_one_place(void) { exchange(); }
static void from_another(void) { exchange(); }

static void release(void) {
  for (int i = 0; i < 2; ++i) {
    L_Comm_free(&comms[i]);
    L_Type_free(&types[i]);
  }
}

// Handles may well be those that were there before. What was freed last is often given out first,
// and so stands for the other of the two.
static void renew(int round) {
  if (round > 0) release();
  for (int i = 0; i < 2; ++i) {
    char alias[32];
    const int count = 1 + (round + 3 * i) % 7;
    snprintf(alias, sizeof alias, "@@comm%d", 2 * round + i);
    if (round % 2 == 0)
      DO(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]), "comm:C newcomm:C+", MPI_COMM_WORLD, comms[i],
         alias);
    else
      DO(MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comms[i]), "comm:C color:i key:i newcomm:C+",
         MPI_COMM_WORLD, 0, rank, comms[i], alias);
    DO(MPI_Type_contiguous(count, MPI_INT, &types[i]), "count:i oldtype:D newtype:D+", count,
       MPI_INT, types[i]);
    L_Type_commit(&types[i]);
  }
}

int main(int argc, char** argv) {
  log_init(&argc, &argv, &rank, &size);
  for (int i = 0; i < 8; ++i) out[i] = i;
  for (int round = 0; round < kRounds; ++round) {
    if (round % 30 == 0) renew(round / 30);
    comm = comms[choose(2)];
    type = types[choose(2)];
    choose(2) ? from_one_place() : from_another();
    for (int i = 0; i < kN; ++i) EXPECT(r[i] == MPI_REQUEST_NULL && in[i][0] == 0);
  }
  release();
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
