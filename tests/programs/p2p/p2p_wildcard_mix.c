// Wildcard receives beside named receives and sends in one array, statuses ignored: `matched` must
// name the messages of the wildcards, and of them only, in every call that completes requests.
// Wildcards of the tag alone; persistent ones; MPI_PROC_NULL; one that is never matched.
#include "calls.h"

enum { kMax = 16, kRounds = 16 };
struct Message {
  int source, tag;
};
static int rank, size;
#define W MPI_COMM_WORLD  // no constant in every MPI
static MPI_Comm other;
static struct Message m[kMax], named, out;
static MPI_Request r[kMax];

#define kIgnored "MPI_STATUS_IGNORE"
#define kAllIgnored "MPI_STATUSES_IGNORE"

// What the request i of the array matched, when the first n are wildcards.
static const char* one(int i, int n) {
  return i < n ? json_message(m[i].source, m[i].tag) : "null";
}

static const char* several(int count, const int* indices, int n) {
  static char text[4096];
  char* p = text;
  *p++ = '[';
  for (int k = 0; k < count; ++k) p += sprintf(p, "%s%s", k ? "," : "", one(indices[k], n));
  strcpy(p, "]");
  return text;
}

// 0 to n-1 are wildcards, n is a named receive, n+1 a send.
static int post(int n, int tag) {
  for (int i = 0; i < n; ++i) {
    if (i % 3 == 0) L_Irecv(&m[i], 2, MPI_INT, MPI_ANY_SOURCE, tag, W, &r[i]);
    if (i % 3 == 1) L_Irecv(&m[i], 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, W, &r[i]);
    if (i % 3 == 2) L_Irecv(&m[i], 2, MPI_INT, i + 1, MPI_ANY_TAG, other, &r[i]);
  }
  L_Irecv(&named, 2, MPI_INT, 1, 999, other, &r[n]);
  L_Isend(&out, 2, MPI_INT, 1, 998, W, &r[n + 1]);
  L_Barrier(W);
  return n + 2;
}

static void each(int total, int n) {
  for (int i = total - 1; i >= 0; --i)
    if (i < n)
      DO(MPI_Wait(&r[i], MPI_STATUS_IGNORE), "request:R status:s =matched:j", &r[i], kIgnored,
         one(i, n));
    else
      DO(MPI_Wait(&r[i], MPI_STATUS_IGNORE), "request:R status:s =matched:n", &r[i], kIgnored);
}

static void each_test(int total, int n) {
  for (int i = 0, flag = 0; i < total; i += flag) {
    MPI_Test(&r[i], &flag, MPI_STATUS_IGNORE);
    if (flag && i < n)
      DID("MPI_Test", "request:R flag:i status:s =matched:j", &r[i], flag, kIgnored, one(i, n));
    else
      DID("MPI_Test", "request:R flag:i status:s =matched:n", &r[i], flag, kIgnored);
  }
}

static void all(int total, int n, int test) {
  int flag = 1, indices[kMax];
  for (int i = 0; i < kMax; ++i) indices[i] = i;
  if (!test) {
    DO(MPI_Waitall(total, r, MPI_STATUSES_IGNORE),
       "count:i array_of_requests:A array_of_statuses:s =matched:j", total, total, r, kAllIgnored,
       several(total, indices, n));
    return;
  }
  do {
    MPI_Testall(total, r, &flag, MPI_STATUSES_IGNORE);
    if (flag)
      DID("MPI_Testall", "count:i array_of_requests:A flag:i array_of_statuses:s =matched:j", total,
          total, r, flag, kAllIgnored, several(total, indices, n));
    else
      DID("MPI_Testall", "count:i array_of_requests:A flag:i =matched:n", total, total, r, flag);
  } while (!flag);
}

static void any(int total, int n, int test) {
  for (int left = total, index, flag = 1; left > 0; left -= flag) {
    if (test)
      MPI_Testany(total, r, &index, &flag, MPI_STATUS_IGNORE);
    else
      MPI_Waitany(total, r, &index, MPI_STATUS_IGNORE);
    const char* call = test ? "MPI_Testany" : "MPI_Waitany";
    if (flag && index < n)
      DID(call, "count:i array_of_requests:A index:u status:s =matched:j", total, total, r, index,
          kIgnored, one(index, n));
    else
      DID(call, "count:i array_of_requests:A index:u status:s =matched:n", total, total, r, index,
          kIgnored);
  }
}

static void some(int total, int n, int test) {
  for (int left = total, done, indices[kMax]; left > 0; left -= done) {
    (test ? MPI_Testsome : MPI_Waitsome)(total, r, &done, indices, MPI_STATUSES_IGNORE);
    const char* call = test ? "MPI_Testsome" : "MPI_Waitsome";
    int wild = 0;
    for (int k = 0; k < done; ++k) wild |= indices[k] < n;
    if (wild)
      DID(call, "incount:i array_of_requests:A outcount:i array_of_indices:V =matched:j", total,
          total, r, done, done, indices, several(done, indices, n));
    else
      DID(call, "incount:i array_of_requests:A outcount:i array_of_indices:V =matched:n", total,
          total, r, done, done, indices);
  }
}

static void receiver(int round) {
  const int n = size - 1, total = post(n, 5 + round), kind = round % 8;
  if (kind == 0) each(total, n);
  if (kind == 1) each_test(total, n);
  if (kind == 2 || kind == 3) all(total, n, kind == 3);
  if (kind == 4 || kind == 5) any(total, n, kind == 5);
  if (kind == 6 || kind == 7) some(total, n, kind == 7);
}

static void sender(int round) {
  struct Message mine = {rank, 5 + round}, answer;
  L_Barrier(W);
  L_Send(&mine, 2, MPI_INT, 0, mine.tag, rank % 3 == 0 ? other : W);
  if (rank != 1) return;
  L_Send(&mine, 2, MPI_INT, 0, 999, other);
  L_Recv(&answer, 2, MPI_INT, 0, 998, W, MPI_STATUS_IGNORE);
}

static void persistent(void) {
  if (rank > 0) {
    struct Message mine = {rank, 0};
    for (mine.tag = 100; mine.tag < 103; ++mine.tag) L_Send(&mine, 2, MPI_INT, 0, mine.tag, W);
    return;
  }
  MPI_Request p;
  int flag;
  DO(MPI_Recv_init(&m[0], 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, W, &p), kRecvSpec " request:R+",
     2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, W, &p);
  for (int i = 0; i < 3 * (size - 1); ++i) {
    DO(MPI_Start(&p), "request:R", &p);
    DO(MPI_Wait(&p, MPI_STATUS_IGNORE), "request:R status:s =matched:j", &p, kIgnored,
       json_message(m[0].source, m[0].tag));
    // Inactive.
    DO(MPI_Wait(&p, MPI_STATUS_IGNORE), "request:R status:s =matched:n", &p, kIgnored);
    DO(MPI_Test(&p, &flag, MPI_STATUS_IGNORE), "request:R flag:i status:s =matched:n", &p, 1,
       kIgnored);
  }
  DO(MPI_Request_free(&p), "request:R", &p);
}

static void nobody(void) {
  MPI_Status st;
  MPI_Request q;
  int flag;
  L_Recv(&out, 2, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, W, &st);
  EXPECT(st.MPI_SOURCE == MPI_PROC_NULL && st.MPI_TAG == MPI_ANY_TAG);
  L_Irecv(&out, 2, MPI_INT, MPI_PROC_NULL, 3, W, &q);
  L_Wait(&q, &st);
  L_Irecv(&out, 2, MPI_INT, MPI_ANY_SOURCE, 12345, W, &q);
  for (int i = 0; i < 20; ++i)
    DO(MPI_Test(&q, &flag, &st), "request:R flag:f status:S", &q, flag, &st);
  for (int i = 0; i < 20; ++i)
    DO(MPI_Iprobe(MPI_ANY_SOURCE, 4321, W, &flag, &st), "source:r tag:t comm:C flag:f status:S",
       MPI_ANY_SOURCE, 4321, W, flag, &st);
  DO(MPI_Cancel(&q), "request:R", &q);
  DO(MPI_Wait(&q, &st), "request:R", &q);
  DO(MPI_Test_cancelled(&st, &flag), "flag:i", 1);
}

int main(int argc, char** argv) {
  log_init(&argc, &argv, &rank, &size);
  DO(MPI_Comm_dup(W, &other), "comm:C newcomm:C+", W, other, "@@other");
  for (int round = 0; round < kRounds; ++round) {
    rank == 0 ? receiver(round) : sender(round);
    L_Barrier(W);
  }
  persistent();
  L_Barrier(W);
  nobody();
  L_Comm_free(&other);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
