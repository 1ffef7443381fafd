// A recording that leaves messages out by their size: persistent calls, probes, messages that are
// too long or never come, collective calls, windows and files.
//
//   control_size_kinds MIN MAX     bytes; the ranks are a ring
#include "kept.h"

enum { kRoom = 200000, kSizes = 5 };
static const int kBytes[kSizes] = {0, 7, 1000, 5000, 70000};
static int rank, size, to, from, tag = 100;
static char out[kRoom], in[kRoom];

static void send_wait(int n, MPI_Request* r) {
  KEPT(kept(n), MPI_Isend(out, n, MPI_BYTE, to, tag, W, r),
       "count:i datatype:s dest:r tag:t request:j", n, "MPI_BYTE", to, tag, "\"@out\"");
}
static void wait_sent(int n, MPI_Request* r) {
  MPI_Wait(r, MPI_STATUS_IGNORE);
  WAS_KEPT(kept(n), "MPI_Wait", "request:j =freed:j", "\"@out\"", "[\"@out\"]");
}

// One receive that is started again and again, for messages of every size.
static void persistent(void) {
  MPI_Request r[3], s;
  MPI_Status st;
  DO(MPI_Recv_init(in, kRoom, MPI_BYTE, from, 1, W, &r[0]), "count:i tag:t request:j", kRoom, 1,
     "\"@in\"");
  for (int i = 0; i < kSizes; ++i) {
    const int n = kBytes[i];
    int flag;
    KEPT(kept(n), MPI_Start(&r[0]), "request:j", "\"@in\"");
    MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE);
    EXPECT(!flag);
    WAS_KEPT(kept(n), "MPI_Test", "request:j flag:i", "\"@in\"", 0);
    L_Barrier(W);
    tag = 1;
    send_wait(n, &s);
    wait_sent(n, &s);
    KEPT(kept(n), MPI_Wait(&r[0], &st), "request:j", "\"@in\"");
  }
  // Of what starts together, only messages that are kept are named.
  const int small = 7, big = 1000;
  char names[64];
  KEPT(kept(small), MPI_Send_init(out, small, MPI_BYTE, to, 2, W, &r[1]),
       "count:i datatype:s dest:r comm:C request:j", small, "MPI_BYTE", to, W, "\"@small\"");
  KEPT(kept(big), MPI_Send_init(out, big, MPI_BYTE, to, 1, W, &r[2]),
       "count:i datatype:s dest:r comm:C request:j", big, "MPI_BYTE", to, W, "\"@big\"");
  KEPT(kept(small) || kept(big), MPI_Startall(2, r + 1), "array_of_requests:j",
       (snprintf(names, sizeof names, "[%s,%s]", kept(small) ? "\"@small\"" : "null",
                 kept(big) ? "\"@big\"" : "null"),
        names));
  KEPT(kept(small), MPI_Recv(in, kRoom, MPI_BYTE, from, 2, W, &st), "tag:t", 2);
  KEPT(kept(big), MPI_Startall(1, r), "array_of_requests:j", "[\"@in\"]");
  KEPT(kept(small) || kept(big), MPI_Waitall(3, r, MPI_STATUSES_IGNORE), "array_of_requests:j",
       "[\"@in\",\"@small\",\"@big\"]");
  MPI_Request_free(&r[0]);
  DID("MPI_Request_free", "request:j =freed:j", "\"@in\"", "[\"@in\",\"@small\",\"@big\"]");
  KEPT(kept(small), MPI_Request_free(&r[1]), "");
  KEPT(kept(big), MPI_Request_free(&r[2]), "");
}

static void probes(void) {
  MPI_Request s, r;
  MPI_Message m;
  int flag;
  for (int i = 0; i < kSizes; ++i) {
    const int n = kBytes[i], seen = kept(n);
    ++tag;
    send_wait(n, &s);
    KEPT(seen, MPI_Probe(from, tag, W, MPI_STATUS_IGNORE), "source:r tag:t", from, tag);
    KEPT(seen, MPI_Mprobe(MPI_ANY_SOURCE, tag, W, &m, MPI_STATUS_IGNORE), "tag:t message:j", tag,
         "\"@m\"");
    KEPT(seen, MPI_Mrecv(in, kRoom, MPI_BYTE, &m, MPI_STATUS_IGNORE), "message:j =freed:j",
         "\"@m\"", "[\"@m\"]");
    wait_sent(n, &s);
    ++tag;
    DO(MPI_Iprobe(from, tag, W, &flag, MPI_STATUS_IGNORE), "tag:t flag:i", tag, 0);
    L_Barrier(W);
    send_wait(n, &s);
    MPI_Probe(from, tag, W, MPI_STATUS_IGNORE);
    WAS_KEPT(seen, "MPI_Probe", "source:r tag:t", from, tag);
    KEPT(seen, MPI_Iprobe(from, tag, W, &flag, MPI_STATUS_IGNORE), "tag:t flag:i", tag, 1);
    KEPT(seen, MPI_Improbe(from, tag, W, &flag, &m, MPI_STATUS_IGNORE), "tag:t flag:i message:j",
         tag, 1, "\"@m\"");
    KEPT(seen, MPI_Imrecv(in, kRoom, MPI_BYTE, &m, &r), "message:j request:j =freed:j", "\"@m\"",
         "\"@mr\"", "[\"@m\"]");
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    WAS_KEPT(seen, "MPI_Wait", "request:j =freed:j", "\"@mr\"", "[\"@mr\"]");
    wait_sent(n, &s);
  }
}

// What never comes is kept; so is what can no longer be asked for.
static void ends(void) {
  MPI_Request s, r;
  MPI_Status st;
  int flag;
  ++tag;
  DO(MPI_Irecv(in, kRoom, MPI_BYTE, from, tag, W, &r), "tag:t request:j", tag, "\"@r\"");
  DO(MPI_Cancel(&r), "request:j", "\"@r\"");
  DO(MPI_Wait(&r, &st), "request:j =freed:j", "\"@r\"", "[\"@r\"]");
  DO(MPI_Test_cancelled(&st, &flag), "flag:i", 1);
  for (int i = 0; i < kSizes; ++i) {
    const int n = kBytes[i];
    ++tag;
    KEPT(kept(n), MPI_Irecv(in, kRoom, MPI_BYTE, from, tag, W, &r), "tag:t request:j", tag,
         "\"@r\"");
    MPI_Request_get_status(r, &flag, MPI_STATUS_IGNORE);
    WAS_KEPT(kept(n), "MPI_Request_get_status", "request:j flag:i", "\"@r\"", 0);
    L_Barrier(W);
    send_wait(n, &s);
    MPI_Wait(&r, &st);
    WAS_KEPT(kept(n), "MPI_Wait", "request:j =freed:j", "\"@r\"", "[\"@r\"]");
    wait_sent(n, &s);
  }
  // Its size can no longer be asked for.
  ++tag;
  DO(MPI_Irecv(in, kRoom, MPI_BYTE, from, tag, W, &r), "tag:t request:j", tag, "\"@r\"");
  DO(MPI_Request_free(&r), "request:j =freed:j", "\"@r\"", "[\"@r\"]");
  send_wait(1000, &s);
  wait_sent(1000, &s);
}

// Too long: how much longer, not every MPI says. Here the room alone decides.
static void truncated(void) {
  const int n = 7000;
  MPI_Request s, r;
  MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN);
  DID("MPI_Comm_set_errhandler", "comm:C", W);
  for (int i = 0; i < 2; ++i) {
    const int room = i == 0 ? 50 : 6000;
    const int in_bounds = room + 1 >= min_bytes && max_bytes > kRoom;
    if (!in_bounds && room < max_bytes) continue;
    for (int blocking = 0; blocking < 2; ++blocking) {
      ++tag;
      send_wait(n, &s);
      if (blocking) {
        const int rc = MPI_Recv(in, room, MPI_BYTE, from, tag, W, MPI_STATUS_IGNORE);
        EXPECT(rc != MPI_SUCCESS);
        if (in_bounds) log_call(0, "MPI_Recv", rc, "count:i tag:t", room, tag);
        gone += !in_bounds;
      } else {
        KEPT(in_bounds, MPI_Irecv(in, room, MPI_BYTE, from, tag, W, &r), "count:i request:j", room,
             "\"@r\"");
        const int rc = MPI_Wait(&r, MPI_STATUS_IGNORE);
        EXPECT(rc != MPI_SUCCESS);
        if (in_bounds) log_call(0, "MPI_Wait", rc, "request:j =freed:j", "\"@r\"", "[\"@r\"]");
        gone += !in_bounds;
      }
      wait_sent(n, &s);
    }
  }
}

// All ranks do the same: what they say of the amount is the same, or the call is kept.
static void collective(void) {
  static int counts[64], where[64];
  MPI_Request r;
  for (int i = 0; i < kSizes; ++i) {
    const int n = kBytes[i] / 10, seen = kept(n), root = i % size;
    void* const place = rank == root ? MPI_IN_PLACE : out;
    for (int k = 0; k < size; ++k) counts[k] = n, where[k] = k * n;
    KEPT(seen, MPI_Bcast(in, n, MPI_BYTE, root, W), "count:i root:r", n, root);
    KEPT(seen, MPI_Reduce(out, in, n, MPI_BYTE, MPI_BOR, root, W), "count:i", n);
    KEPT(seen, MPI_Allreduce(out, in, n, MPI_BYTE, MPI_BOR, W), "count:i", n);
    KEPT(seen, MPI_Gather(place, n, MPI_BYTE, in, n, MPI_BYTE, root, W), "sendcount:i root:r", n,
         root);
    KEPT(seen, MPI_Scatter(out, n, MPI_BYTE, in, n, MPI_BYTE, root, W), "sendcount:i root:r", n,
         root);
    KEPT(seen, MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, n, MPI_BYTE, W), "recvcount:i",
         n);
    KEPT(seen, MPI_Alltoall(out, n, MPI_BYTE, in, n, MPI_BYTE, W), "recvcount:i", n);
    KEPT(seen, MPI_Scan(out, in, n, MPI_BYTE, MPI_BOR, W), "count:i", n);
    KEPT(seen, MPI_Reduce_scatter_block(out, in, n, MPI_BYTE, MPI_BOR, W), "recvcount:i", n);
    KEPT(seen, MPI_Iallreduce(out, in, n, MPI_BYTE, MPI_BOR, W, &r), "count:i request:j", n,
         "\"@all\"");
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    WAS_KEPT(seen, "MPI_Wait", "request:j =freed:j", "\"@all\"", "[\"@all\"]");
    DO(MPI_Allgatherv(out, n, MPI_BYTE, in, counts, where, MPI_BYTE, W), "sendcount:i", n);
    DO(MPI_Alltoallv(out, counts, where, MPI_BYTE, in, counts, where, MPI_BYTE, W), "comm:C", W);
    DO(MPI_Reduce_scatter(out, in, counts, MPI_BYTE, MPI_BOR, W), "comm:C", W);
    L_Barrier(W);
  }
}

// One end is all there is.
static void accesses(void) {
  static char memory[kRoom];
  MPI_Win win;
  MPI_File file;
  char path[4096];
  snprintf(path, sizeof path, "%s/sizes", getenv("REFRAIN_TEST_DIR"));
  DO(MPI_Win_create(memory, kRoom, 1, MPI_INFO_NULL, W, &win), "comm:C win:j", W, "\"@win\"");
  DO(MPI_File_open(W, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file), "comm:C fh:j",
     W, "\"@file\"");
  for (int i = 0; i < kSizes; ++i) {
    const int n = kBytes[i];
    DO(MPI_Win_fence(0, win), "win:j", "\"@win\"");
    KEPT(kept(n), MPI_Put(out, n, MPI_BYTE, to, 0, n, MPI_BYTE, win), "origin_count:i", n);
    DO(MPI_Win_fence(0, win), "win:j", "\"@win\"");
    KEPT(kept(n), MPI_Get(in, n, MPI_BYTE, to, 0, n, MPI_BYTE, win), "origin_count:i", n);
    DO(MPI_Win_fence(0, win), "win:j", "\"@win\"");
    KEPT(kept(n), MPI_Accumulate(out, n, MPI_BYTE, to, 0, n, MPI_BYTE, MPI_BOR, win),
         "origin_count:i", n);
    DO(MPI_Win_fence(0, win), "win:j", "\"@win\"");
    KEPT(kept(n), MPI_File_write_at(file, rank * kRoom, out, n, MPI_BYTE, MPI_STATUS_IGNORE),
         "count:i", n);
    KEPT(kept(n), MPI_File_read_at(file, rank * kRoom, in, n, MPI_BYTE, MPI_STATUS_IGNORE),
         "count:i", n);
    DO(MPI_File_write_at_all(file, rank * kRoom, out, n, MPI_BYTE, MPI_STATUS_IGNORE), "count:i",
       n);
  }
  MPI_File_close(&file);
  DID("MPI_File_close", "");
  MPI_Win_free(&win);
  DID("MPI_Win_free", "");
}

int main(int argc, char** argv) {
  L_Init_bounds(argc, argv, 3, &rank, &size);
  to = (rank + 1) % size, from = (rank + size - 1) % size;
  persistent();
  probes();
  ends();
  collective();
  accesses();
  truncated();
  MPI_Finalize();
  DID("MPI_Finalize", "");
  printf("rank %d of %d: %ld calls to leave out\n", rank, size, gone);
  return 0;
}
