// A recording that leaves messages out by their size: what is kept must be both ends of every
// message within the bounds, however its receiver asked for it.
//
//   control_size MIN MAX     bytes; the ranks are a ring, and each message goes to the next one
//
// Receives have room for more than what comes. Calls that are left out are made and not logged.
#include "kept.h"

enum { kRoom = 200000, kSizes = 6, kTag = 100 };
#ifdef SMPI_H  // its MPI_Sendrecv_replace cannot send nothing
static const int kBytes[kSizes] = {1, 7, 8, 1000, 5000, 70000};
#else
static const int kBytes[kSizes] = {0, 7, 8, 1000, 5000, 70000};
#endif
static int rank, size, to, from, tag = kTag;
static char out[3][kRoom], in[3][kRoom];

static int received(const MPI_Status* st) {
  int n;
  DO(MPI_Get_count(st, MPI_BYTE, &n), "datatype:D count:i", MPI_BYTE, n);
  return n;
}

#define SEND(n)                                                                                  \
  KEPT(kept(n), MPI_Send(out[0], n, MPI_BYTE, to, tag, W), "count:i dest:r tag:t datatype:s", n, \
       to, tag, "MPI_BYTE")
#define ISEND(b, n, t, r, name)                              \
  KEPT(kept(n), MPI_Isend(out[b], n, MPI_BYTE, to, t, W, r), \
       "count:i dest:r tag:t request:j datatype:s", n, to, t, name, "MPI_BYTE")
#define IRECV(b, n, t, r, name)                                   \
  KEPT(kept(n), MPI_Irecv(in[b], kRoom, MPI_BYTE, from, t, W, r), \
       "count:i source:r tag:t request:j", kRoom, from, t, name)

// Completion calls are logged by hand: they are kept when one of their requests is.
static void done(const char* call, int seen, const char* name) {
  char freed[64];
  snprintf(freed, sizeof freed, "[%s]", name);
  WAS_KEPT(seen, call, "request:j =freed:j", name, freed);
}

static void blocking(void) {
  MPI_Status st;
  MPI_Request r;
  for (int i = 0; i < kSizes; ++i) {
    const int n = kBytes[i], seen = kept(n);
    ++tag;
    ISEND(0, n, tag, &r, "\"@out\"");
    KEPT(seen, MPI_Recv(in[0], kRoom, MPI_BYTE, from, tag, W, &st),
         "count:i source:r tag:t status:S", kRoom, from, tag, &st);
    EXPECT(received(&st) == n);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    done("MPI_Wait", seen, "\"@out\"");
    // Statuses that the program ignores: of one it could not tell, and of one it could.
    ++tag;
    ISEND(0, n, tag, &r, "\"@out\"");
    KEPT(seen, MPI_Recv(in[0], kRoom, MPI_BYTE, MPI_ANY_SOURCE, tag, W, MPI_STATUS_IGNORE),
         "source:r tag:t status:S =matched:j", MPI_ANY_SOURCE, tag, MPI_STATUS_IGNORE,
         json_message(from, tag));
    MPI_Wait(&r, &st);
    done("MPI_Wait", seen, "\"@out\"");
    ++tag;
    ISEND(0, n, tag, &r, "\"@out\"");
    KEPT(seen, MPI_Recv(in[0], kRoom, MPI_BYTE, from, tag, W, MPI_STATUS_IGNORE),
         "source:r tag:t status:S", from, tag, MPI_STATUS_IGNORE);
    MPI_Wait(&r, &st);
    done("MPI_Wait", seen, "\"@out\"");
  }
}

static void exchanges(void) {
  MPI_Status st;
  for (int i = 0; i < kSizes; ++i) {
    const int n = kBytes[i];
    ++tag;
    KEPT(kept(n),
         MPI_Sendrecv(out[0], n, MPI_BYTE, to, tag, in[0], kRoom, MPI_BYTE, from, tag, W, &st),
         "sendcount:i dest:r sendtag:t status:S sendtype:s", n, to, tag, &st, "MPI_BYTE");
    ++tag;
    KEPT(kept(n),
         MPI_Sendrecv_replace(out[0], n, MPI_BYTE, to, tag, from, tag, W, MPI_STATUS_IGNORE),
         "count:i dest:r sendtag:t datatype:s", n, to, tag, "MPI_BYTE");
    // One half goes nowhere: the other one decides.
    const int first = rank % 2 == 0, last = rank == size - 1 && size % 2 == 1;
    MPI_Request r = MPI_REQUEST_NULL;
    ++tag;
    if (last) ISEND(1, n, tag, &r, "\"@odd\"");
    if (first && !last)
      KEPT(kept(n),
           MPI_Sendrecv(out[0], n, MPI_BYTE, to, tag, in[0], kRoom, MPI_BYTE, MPI_PROC_NULL, tag, W,
                        MPI_STATUS_IGNORE),
           "sendcount:i dest:r source:r sendtype:s", n, to, MPI_PROC_NULL, "MPI_BYTE");
    if (!first || (rank == 0 && size % 2 == 1))
      KEPT(kept(n),
           MPI_Sendrecv(out[0], 70000, MPI_BYTE, MPI_PROC_NULL, tag, in[0], kRoom, MPI_BYTE, from,
                        tag, W, MPI_STATUS_IGNORE),
           "sendcount:i dest:r source:r", 70000, MPI_PROC_NULL, from);
    if (!last) continue;
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    done("MPI_Wait", kept(n), "\"@odd\"");
  }
  KEPT(kept(0), MPI_Send(out[0], 70000, MPI_BYTE, MPI_PROC_NULL, tag, W), "dest:r", MPI_PROC_NULL);
  KEPT(kept(0), MPI_Recv(in[0], 70000, MPI_BYTE, MPI_PROC_NULL, tag, W, MPI_STATUS_IGNORE),
       "source:r", MPI_PROC_NULL);
}

// Two receives at once, of which the later one ends first, and all the ways to wait for them.
static void nonblocking(int big, int small) {
  MPI_Request r[4];
  MPI_Status st[4];
  const char *a = "\"@a\"", *b = "\"@b\"", *c = "\"@c\"", *d = "\"@d\"";
  char names[64];
  int index, count, flag, indices[4];
  const int any = kept(big) || kept(small), t = tag + 1;
  tag += 2;
  IRECV(0, big, t, &r[0], a);
  IRECV(1, small, t + 1, &r[1], b);
  ISEND(1, small, t + 1, &r[3], d);
  MPI_Wait(&r[1], &st[1]);
  done("MPI_Wait", kept(small), b);
  ISEND(0, big, t, &r[2], c);
  MPI_Waitall(4, r, st);
  WAS_KEPT(any, "MPI_Waitall", "count:i array_of_requests:j =freed:j", 4,
           "[\"@a\",\"MPI_REQUEST_NULL\",\"@c\",\"@d\"]", "[\"@a\",\"@c\",\"@d\"]");
  // With wildcards, in the order of their posting.
  ++tag;
  IRECV(0, big, tag, &r[0], a);
  ISEND(0, big, tag, &r[1], b);
  ++tag;
  KEPT(kept(small), MPI_Irecv(in[1], kRoom, MPI_BYTE, MPI_ANY_SOURCE, tag, W, &r[2]),
       "source:r tag:t request:j", MPI_ANY_SOURCE, tag, c);
  ISEND(1, small, tag, &r[3], d);
  snprintf(names, sizeof names, "[%s,%s,%s,%s]", a, b, c, d);
  MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
  WAS_KEPT(any, "MPI_Waitall", "array_of_requests:j =freed:j", names, names);
  // One after the other: the call is kept when one of those that it names is.
  ++tag;
  IRECV(0, big, tag, &r[0], a);
  ++tag;
  IRECV(1, small, tag, &r[1], b);
  L_Barrier(W);
  ISEND(1, small, tag, &r[2], c);
  MPI_Waitany(2, r, &index, MPI_STATUS_IGNORE);
  EXPECT(index == 1);
  WAS_KEPT(any, "MPI_Waitany", "array_of_requests:j index:i =freed:j", "[\"@a\",\"@b\"]", 1,
           "[\"@b\"]");
  L_Barrier(W);
  ISEND(0, big, tag - 1, &r[3], d);
  MPI_Waitsome(1, r, &count, indices, st);
  EXPECT(count == 1);
  WAS_KEPT(kept(big), "MPI_Waitsome", "array_of_requests:j outcount:i =freed:j", "[\"@a\"]", 1,
           "[\"@a\"]");
  MPI_Waitall(2, r + 2, st);
  WAS_KEPT(any, "MPI_Waitall", "array_of_requests:j =freed:j", "[\"@c\",\"@d\"]",
           "[\"@a\",\"@c\",\"@d\"]");
  // A question that has no answer yet follows the request.
  ++tag;
  IRECV(0, big, tag, &r[0], a);
  MPI_Test(&r[0], &flag, &st[0]);
  EXPECT(!flag);
  WAS_KEPT(kept(big), "MPI_Test", "request:j flag:i", a, 0);
  MPI_Testany(1, r, &index, &flag, &st[0]);
  WAS_KEPT(kept(big), "MPI_Testany", "array_of_requests:j flag:i", "[\"@a\"]", 0);
  MPI_Testsome(1, r, &count, indices, st);
  WAS_KEPT(kept(big), "MPI_Testsome", "array_of_requests:j outcount:i", "[\"@a\"]", 0);
  MPI_Testall(1, r, &flag, st);
  WAS_KEPT(kept(big), "MPI_Testall", "array_of_requests:j flag:i", "[\"@a\"]", 0);
  L_Barrier(W);
  ISEND(0, big, tag, &r[1], b);
  MPI_Wait(&r[1], &st[1]);
  done("MPI_Wait", kept(big), b);
  L_Barrier(W);
  MPI_Wait(&r[0], &st[0]);
  done("MPI_Wait", kept(big), a);
}

int main(int argc, char** argv) {
  L_Init_bounds(argc, argv, 3, &rank, &size);
  to = (rank + 1) % size, from = (rank + size - 1) % size;
  blocking();
  exchanges();
  for (int i = 0; i < kSizes; ++i) nonblocking(kBytes[i], kBytes[(i + 2) % kSizes]);
  MPI_Finalize();
  DID("MPI_Finalize", "");
  printf("rank %d of %d: %ld calls to leave out\n", rank, size, gone);
  return 0;
}
