// A recording that leaves calls out: a word says which of them this run is to see.
//
//   control_filter all|p2p|coll|no-coll|half     half: communicator calls on that communicator only
#include "calls.h"

#define W MPI_COMM_WORLD  // no constant in every MPI
static const char* word;

static int is(const char* what) { return strcmp(word, what) == 0; }
static int sees_p2p(void) { return is("all") || is("p2p") || is("no-coll"); }
static int sees_coll(void) { return is("all") || is("coll"); }
static int sees_others(void) { return is("all") || is("no-coll"); }

// Makes the call in either case; `logged` is how it stands in the log.
#define MAYBE(seen, call, ...) \
  do {                         \
    if (seen)                  \
      DO(call, __VA_ARGS__);   \
    else                       \
      call;                    \
  } while (0)

// A ring of messages on `comm`, which is called `name`, and a reduction.
static void ring(MPI_Comm comm, const char* name, int p2p, int coll, int other) {
  int rank, size, in = -1, in2 = -1, sum = 0, one = 1;
  MAYBE(other, MPI_Comm_rank(comm, &rank), "comm:j rank:i", name, rank);
  MAYBE(other, MPI_Comm_size(comm, &size), "comm:j size:i", name, size);
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Request r[3];
  MAYBE(p2p, MPI_Irecv(&in, 1, MPI_INT, from, 3, comm, &r[0]), "source:r comm:j request:j", from,
        name, "\"@in\"");
  MAYBE(p2p, MPI_Send(&rank, 1, MPI_INT, to, 3, comm), "count:i dest:r comm:j", 1, to, name);
  MAYBE(coll, MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &r[1]), "comm:j request:j",
        name, "\"@sum\"");
  MAYBE(p2p, MPI_Isend(&rank, 1, MPI_INT, to, 4, comm, &r[2]), "dest:r comm:j request:j", to, name,
        "\"@out\"");
  // Kept as soon as one of its requests is, and the others are known all the same.
  MPI_Request both[3] = {r[0], r[1], r[2]};
  MPI_Recv(&in2, 0, MPI_INT, MPI_PROC_NULL, 4, comm, MPI_STATUS_IGNORE);
  if (p2p) DID("MPI_Recv", "source:r comm:j", MPI_PROC_NULL, name);
  MPI_Status ignored;
  MPI_Recv(&in2, 1, MPI_INT, from, 4, comm, &ignored);
  if (p2p) DID("MPI_Recv", "source:r comm:j", from, name);
  MPI_Waitall(3, both, MPI_STATUSES_IGNORE);
  if (p2p || coll)
    log_call(0, "MPI_Waitall", MPI_SUCCESS, "count:i array_of_requests:j =freed:j", 3,
             "[\"@in\",\"@sum\",\"@out\"]", "[\"@in\",\"@sum\",\"@out\"]");
  EXPECT(in == from && in2 == from && sum == size);
  MAYBE(coll, MPI_Ibarrier(comm, &r[0]), "comm:j request:j", name, "\"@barrier\"");
  MPI_Wait(&r[0], MPI_STATUS_IGNORE);
  if (coll)
    log_call(0, "MPI_Wait", MPI_SUCCESS, "request:j =freed:j", "\"@barrier\"", "[\"@barrier\"]");
  MAYBE(coll, MPI_Barrier(comm), "comm:j", name);
}

static void persistent(void) {
  int rank, size, in = -1;
  MPI_Comm_rank(W, &rank);
  if (sees_others()) DID("MPI_Comm_rank", "comm:C rank:i", W, rank);
  MPI_Comm_size(W, &size);
  if (sees_others()) DID("MPI_Comm_size", "comm:C size:i", W, size);
  MPI_Request r[2];
  MAYBE(sees_p2p(), MPI_Send_init(&rank, 1, MPI_INT, (rank + 1) % size, 5, W, &r[0]),
        "count:i datatype:D dest:r tag:t comm:C request:j", 1, MPI_INT, (rank + 1) % size, 5, W,
        "\"@to\"");
  MAYBE(sees_p2p(), MPI_Recv_init(&in, 1, MPI_INT, (rank + size - 1) % size, 5, W, &r[1]),
        "tag:t request:j", 5, "\"@from\"");
  MAYBE(sees_p2p(), MPI_Startall(2, r), "array_of_requests:j", "[\"@to\",\"@from\"]");
  MAYBE(sees_p2p(), MPI_Waitall(2, r, MPI_STATUSES_IGNORE), "array_of_requests:j",
        "[\"@to\",\"@from\"]");
  EXPECT(in == (rank + size - 1) % size);
  for (int i = 0; i < 2; ++i) {
    MPI_Request_free(&r[i]);
    if (sees_p2p())
      log_call(0, "MPI_Request_free", MPI_SUCCESS, "request:j =freed:j",
               i == 0 ? "\"@to\"" : "\"@from\"", i == 0 ? "[\"@to\"]" : "[\"@from\"]");
  }
}

// Not on both halves at once: Open MPI 4.1 gives their windows the same file.
static void windows(void) {
  static int memory[2];
  MPI_Win win[2];
  MPI_Comm twin;
  MAYBE(sees_others(), MPI_Comm_dup(W, &twin), "comm:C newcomm:j", W, "\"@@twin\"");
  MAYBE(sees_others(), MPI_Comm_set_name(twin, "half"), "comm:j", "\"@@twin\"");
  MAYBE(sees_others(), MPI_Win_create(&memory[0], 4, 4, MPI_INFO_NULL, W, &win[0]), "comm:C win:j",
        W, "\"@world_win\"");
  MAYBE(sees_others() || is("half"), MPI_Win_create(&memory[1], 4, 4, MPI_INFO_NULL, twin, &win[1]),
        "comm:j win:j", "\"@@twin\"", "\"@half_win\"");
  for (int i = 0; i < 2; ++i) {
    const int seen = sees_others() || (is("half") && i == 1);
    const char* name = i == 0 ? "\"@world_win\"" : "\"@half_win\"";
    MAYBE(seen, MPI_Win_fence(0, win[i]), "win:j", name);
    MAYBE(seen, MPI_Win_free(&win[i]), "win:j", name);
  }
  MAYBE(sees_others() || is("half"), MPI_Comm_free(&twin), "comm:j", "\"@@twin\"");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  DID("MPI_Init", "argc:i", argc);
  EXPECT(argc == 2);
  word = argv[1];
  int rank;
  MPI_Comm half;
  char half_name[16];
  MPI_Comm_rank(W, &rank);
  snprintf(half_name, sizeof half_name, "\"@@half%d\"", rank % 2);
  if (sees_others()) DID("MPI_Comm_rank", "comm:C rank:i", W, rank);
  MAYBE(sees_others(), MPI_Comm_split(W, rank % 2, 0, &half), "comm:C newcomm:j", W, half_name);
  MAYBE(sees_others(), MPI_Comm_set_name(half, "half"), "comm:j comm_name:s", half_name, "half");
  ring(W, "\"MPI_COMM_WORLD\"", sees_p2p(), sees_coll(), sees_others());
  ring(half, half_name, sees_p2p() || is("half"), sees_coll() || is("half"),
       sees_others() || is("half"));
  if (is("half")) {
    int name_length;
    char name[MPI_MAX_OBJECT_NAME];
    DO(MPI_Comm_get_name(half, name, &name_length), "comm:j comm_name:s", half_name, "half");
  }
  persistent();
  windows();
  MPI_Comm_free(&half);
  if (sees_others() || is("half")) log_call(0, "MPI_Comm_free", MPI_SUCCESS, "comm:j", half_name);
  MPI_Finalize();
  DID("MPI_Finalize", "");
  printf("rank %d done\n", rank);
  return 0;
}
