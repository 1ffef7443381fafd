// Wildcard receives: with statuses, and with ignored ones, where `matched` must name the message.
// Every payload says who sent it and with which tag.
#include "calls.h"

enum { kRounds = 3 };

struct Message {
  int source, tag;
};

static void senders(int rank) {
  struct Message m = {rank, 0};
  for (int round = 0; round < kRounds; ++round)
    for (int kind = 0; kind < 6; ++kind) {
      m.tag = 10 * kind + round;
      L_Send(&m, 2, MPI_INT, 0, m.tag, MPI_COMM_WORLD);
      L_Barrier(MPI_COMM_WORLD);
    }
}

// Requests of the array form: what each matched, null for those that were no wildcards.
static const char* matched_array(const struct Message* m, int n) {
  static char text[4096];
  char* p = text;
  *p++ = '[';
  for (int i = 0; i < n; ++i)
    p += sprintf(p, "%s%s", i ? "," : "", json_message(m[i].source, m[i].tag));
  strcpy(p, "]");
  return text;
}

static void one_kind(int kind, int round, int size) {
  const int n = size - 1, tag = 10 * kind + round;
  struct Message m[16];
  MPI_Request r[16];
  MPI_Status st[16];
  if (kind == 0)
    for (int i = 0; i < n; ++i) {
      L_Recv(&m[i], 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &st[i]);
      EXPECT(m[i].source == st[i].MPI_SOURCE && m[i].tag == st[i].MPI_TAG);
    }
  if (kind == 1)
    for (int i = 0; i < n; ++i) {
      MPI_Recv(&m[i], 2, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      DID("MPI_Recv", kRecvSpec " status:s =matched:j", 2, MPI_INT, MPI_ANY_SOURCE, tag,
          MPI_COMM_WORLD, "MPI_STATUS_IGNORE", json_message(m[i].source, m[i].tag));
    }
  if (kind < 2) return;
  for (int i = 0; i < n; ++i)
    L_Irecv(&m[i], 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &r[i]);
  if (kind == 2) L_Waitall(n, r, st);
  if (kind == 3)
    DO(MPI_Waitall(n, r, MPI_STATUSES_IGNORE),
       "count:i array_of_requests:A array_of_statuses:s =matched:j", n, n, r, "MPI_STATUSES_IGNORE",
       matched_array(m, n));
  if (kind == 4)
    for (int i = n - 1; i >= 0; --i)
      DO(MPI_Wait(&r[i], MPI_STATUS_IGNORE), "request:R status:s =matched:j", &r[i],
         "MPI_STATUS_IGNORE", json_message(m[i].source, m[i].tag));
  if (kind == 5)
    for (int left = n; left > 0; --left) {
      int index;
      DO(MPI_Waitany(n, r, &index, MPI_STATUS_IGNORE),
         "count:i array_of_requests:A index:i status:s =matched:j", n, n, r, index,
         "MPI_STATUS_IGNORE", json_message(m[index].source, m[index].tag));
    }
}

int main(int argc, char** argv) {
  int rank, size;
  log_init(&argc, &argv, &rank, &size);
  if (rank == 0) {
    for (int round = 0; round < kRounds; ++round)
      for (int kind = 0; kind < 6; ++kind) {
        one_kind(kind, round, size);
        L_Barrier(MPI_COMM_WORLD);
      }
  } else {
    senders(rank);
  }
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
