// Several requests looked at together (MPI 4.1): incomplete, complete, and none at all; with
// statuses, and with ignored ones, where `matched` must name what a wildcard received. Every
// request is still there afterwards.
#include "calls.h"

#if MPI_VERSION * 10 + MPI_SUBVERSION >= 41
enum { kNamed, kWildcard, kNull, kSent, kRequests };
static int rank, size, to, from, in[2], out[2];
static MPI_Request r[kRequests];
static MPI_Status st[kRequests];

#define kMany "count:i array_of_requests:A "

static int look_at_all(void) {
  int flag;
  MPI_Request_get_status_all(kRequests, r, &flag, st);
  DID("MPI_Request_get_status_all", kMany "flag:f array_of_statuses:T", kRequests, kRequests, r,
      flag, kRequests, st);
  return flag;
}

static int look_at_any(int n, MPI_Request* these) {
  int flag, index;
  MPI_Request_get_status_any(n, these, &index, &flag, &st[0]);
  if (flag)
    DID("MPI_Request_get_status_any", kMany "flag:f index:u status:P", n, n, these, flag, index,
        index, &st[0]);
  else
    DID("MPI_Request_get_status_any", kMany "flag:f index:n status:n", n, n, these, flag);
  return flag;
}

static int look_at_some(int n, MPI_Request* these) {
  int outcount, indices[kRequests];
  MPI_Request_get_status_some(n, these, &outcount, indices, st);
  const int k = outcount == MPI_UNDEFINED ? 0 : outcount;
  DID("MPI_Request_get_status_some",
      "incount:i array_of_requests:A outcount:u array_of_indices:V array_of_statuses:Q", n, n,
      these, outcount, k, indices, k, indices, st);
  return outcount;
}

// Nobody has sent yet.
static void incomplete(void) {
  EXPECT(look_at_all() == 0);
  EXPECT(look_at_any(kNull, r) == 0);
  EXPECT(look_at_some(kNull, r) == 0);
}

static void complete(int tag) {
  int flag, index, outcount, indices[2];
  while (!look_at_all()) {
  }
  EXPECT(st[kNamed].MPI_SOURCE == from && st[kWildcard].MPI_TAG == tag + 1);
  EXPECT(look_at_any(kRequests, r) == 1 && look_at_any(1, &r[kWildcard]) == 1);
  EXPECT(look_at_some(kRequests, r) == 3);
  DO(MPI_Request_get_status_all(kRequests, r, &flag, MPI_STATUSES_IGNORE),
     kMany "flag:i array_of_statuses:s", kRequests, kRequests, r, 1, "MPI_STATUSES_IGNORE");
  DO(MPI_Request_get_status_any(1, &r[kWildcard], &index, &flag, MPI_STATUS_IGNORE),
     kMany "index:i flag:i status:s =matched:j", 1, 1, &r[kWildcard], 0, 1, "MPI_STATUS_IGNORE",
     json_message(from, tag + 1));
  char both[80];
  snprintf(both, sizeof both, "[null,%s]", json_message(from, tag + 1));
  DO(MPI_Request_get_status_some(2, r, &outcount, indices, MPI_STATUSES_IGNORE),
     "incount:i array_of_requests:A outcount:u array_of_indices:V array_of_statuses:s =matched:j",
     2, 2, r, 2, 2, indices, "MPI_STATUSES_IGNORE", both);
  EXPECT(flag && index == 0 && outcount == 2);
  DO(MPI_Request_get_status(r[kWildcard], &flag, MPI_STATUS_IGNORE), "flag:i status:s =matched:j",
     1, "MPI_STATUS_IGNORE", json_message(from, tag + 1));
}

static void none(void) {
  EXPECT(look_at_all() == 1);
  EXPECT(look_at_any(kRequests, r) == 1);
  EXPECT(look_at_some(kRequests, r) == MPI_UNDEFINED);
}
#endif

int main(int argc, char** argv) {
#if MPI_VERSION * 10 + MPI_SUBVERSION < 41
  (void)argc, (void)argv;
  SKIP("this MPI cannot look at several requests");
#else
  log_init(&argc, &argv, &rank, &size);
  const MPI_Comm W = MPI_COMM_WORLD;
  to = (rank + 1) % size, from = (rank + size - 1) % size;
  r[kNull] = MPI_REQUEST_NULL;
  for (int tag = 0; tag < 20; tag += 10) {
    L_Irecv(&in[0], 1, MPI_INT, from, tag, W, &r[kNamed]);
    L_Irecv(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, tag + 1, W, &r[kWildcard]);
    r[kSent] = MPI_REQUEST_NULL;
    incomplete();
    L_Barrier(W);
    out[0] = rank, out[1] = rank + 1;
    L_Isend(&out[0], 1, MPI_INT, to, tag, W, &r[kSent]);
    L_Send(&out[1], 1, MPI_INT, to, tag + 1, W);
    complete(tag);
    L_Waitall(kRequests, r, st);
    EXPECT(in[0] == from && in[1] == from + 1);
    none();
  }
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
#endif
}
