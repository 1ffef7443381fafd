/* Counts what each function writes into a buffer, by looking: a line `FUNCTION PARAMETER BYTES` for
 * each call, in the order in which the calls were made. Its trace must say the same
 * (tests/extents/extents.py). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRoom = 1 << 12, kRanks = 3, kMost = 8 };

static unsigned char sent[kRoom], got[kRoom];
static int me;
static FILE* log_file;

static void prepare(void) {
  memset(sent, 0x5a, sizeof sent);
  memset(got, 0xa5, sizeof got);
}

static void report(const char* function, const char* parameter) {
  int changed = 0;
  for (int i = 0; i < kRoom; ++i) changed += got[i] != 0xa5;
  fprintf(log_file, "%s %s %d\n", function, parameter, changed);
}

static void finish(MPI_Request* request) { MPI_Wait(request, MPI_STATUS_IGNORE); }
static void start(MPI_Request* request) {
  MPI_Start(request);
  MPI_Wait(request, MPI_STATUS_IGNORE);
  MPI_Request_free(request);
}

#define BLOCKING(function, parameter, ...) \
  do {                                     \
    prepare();                             \
    function(__VA_ARGS__);                 \
    report(#function, parameter);          \
  } while (0)
#define COMPLETED(by, function, parameter, ...) \
  do {                                          \
    MPI_Request request;                        \
    prepare();                                  \
    function(__VA_ARGS__, &request);            \
    by(&request);                               \
    report(#function, parameter);               \
  } while (0)
#if MPI_VERSION >= 4
#define PERSISTENT(function, ...) COMPLETED(start, function, __VA_ARGS__)
#else
#define PERSISTENT(function, ...) (void)0
#endif
/* All forms of one collective. */
#define FORMS(NAME, INAME, parameter, ...)                \
  BLOCKING(MPI_##NAME, parameter, __VA_ARGS__);           \
  COMPLETED(finish, MPI_##INAME, parameter, __VA_ARGS__); \
  PERSISTENT(MPI_##NAME##_init, parameter, __VA_ARGS__, MPI_INFO_NULL)

/* The root's buffer where only that is written. */
#define AT_ROOT(function, ...)                 \
  do {                                         \
    prepare();                                 \
    function(__VA_ARGS__);                     \
    if (me == 1) report(#function, "recvbuf"); \
  } while (0)

static void collectives(MPI_Comm comm) {
  int one[kMost], displs[kMost], bytes[kMost];
  MPI_Datatype types[kMost];
  for (int i = 0; i < kRanks; ++i) {
    one[i] = 2;
    displs[i] = 5 * i;
    bytes[i] = 20 * i;
    types[i] = MPI_BYTE;
  }
  /* As many as the partner's rank says: parts of unlike length. */
  int many[kMost], mine[kMost], places[kMost];
  for (int i = 0; i < kRanks; ++i) many[i] = i + 1, mine[i] = me + 1, places[i] = 10 * i;
  FORMS(Allgather, Iallgather, "recvbuf", sent, 3, MPI_BYTE, got, 3, MPI_BYTE, comm);
  FORMS(Allgather, Iallgather, "recvbuf", sent, 2, MPI_INT, got, 8, MPI_BYTE, comm);
  FORMS(Allgatherv, Iallgatherv, "recvbuf", sent, me + 1, MPI_BYTE, got, many, displs, MPI_BYTE,
        comm);
  FORMS(Alltoall, Ialltoall, "recvbuf", sent, 4, MPI_BYTE, got, 4, MPI_BYTE, comm);
  FORMS(Alltoallv, Ialltoallv, "recvbuf", sent, many, places, MPI_BYTE, got, mine, places, MPI_BYTE,
        comm);
  FORMS(Alltoallw, Ialltoallw, "recvbuf", sent, one, bytes, types, got, one, bytes, types, comm);
  FORMS(Allreduce, Iallreduce, "recvbuf", sent, got, 7, MPI_BYTE, MPI_BOR, comm);
  FORMS(Scan, Iscan, "recvbuf", sent, got, 5, MPI_BYTE, MPI_BOR, comm);
  FORMS(Reduce_scatter, Ireduce_scatter, "recvbuf", sent, got, many, MPI_BYTE, MPI_BOR, comm);
  FORMS(Reduce_scatter_block, Ireduce_scatter_block, "recvbuf", sent, got, 6, MPI_BYTE, MPI_BOR,
        comm);
  FORMS(Scatter, Iscatter, "recvbuf", sent, 9, MPI_BYTE, got, 9, MPI_BYTE, 1, comm);
  FORMS(Scatterv, Iscatterv, "recvbuf", sent, many, places, MPI_BYTE, got, me + 1, MPI_BYTE, 1,
        comm);
  AT_ROOT(MPI_Gather, sent, 4, MPI_BYTE, got, 4, MPI_BYTE, 1, comm);
  AT_ROOT(MPI_Gatherv, sent, me + 1, MPI_BYTE, got, many, places, MPI_BYTE, 1, comm);
  AT_ROOT(MPI_Reduce, sent, got, 11, MPI_BYTE, MPI_BOR, 1, comm);
  prepare();
  MPI_Bcast(me == 1 ? (void*)sent : (void*)got, 13, MPI_BYTE, 1, comm);
  if (me != 1) report("MPI_Bcast", "buffer");
#if MPI_VERSION >= 4
  BLOCKING(MPI_Allreduce_c, "recvbuf", sent, got, 7, MPI_BYTE, MPI_BOR, comm);
#endif
}

static void neighbours(MPI_Comm world) {
  MPI_Comm ring;
  const int size = kRanks, periodic = 1, counts[2] = {2, 3}, displs[2] = {0, 40};
  const MPI_Aint at[2] = {0, 64};
  const MPI_Datatype types[2] = {MPI_INT, MPI_BYTE};
  MPI_Cart_create(world, 1, &size, &periodic, 0, &ring);
  FORMS(Neighbor_allgather, Ineighbor_allgather, "recvbuf", sent, 3, MPI_BYTE, got, 3, MPI_BYTE,
        ring);
  FORMS(Neighbor_alltoall, Ineighbor_alltoall, "recvbuf", sent, 5, MPI_BYTE, got, 5, MPI_BYTE,
        ring);
  /* The left neighbour sends to its right one what this rank gets from its left. */
  const int back[2] = {3, 2};
  const MPI_Datatype types_back[2] = {MPI_BYTE, MPI_INT};
  FORMS(Neighbor_alltoallv, Ineighbor_alltoallv, "recvbuf", sent, back, displs, MPI_BYTE, got,
        counts, displs, MPI_BYTE, ring);
  FORMS(Neighbor_alltoallw, Ineighbor_alltoallw, "recvbuf", sent, back, at, types_back, got, counts,
        at, types, ring);
  MPI_Comm_free(&ring);
}

static void messages(MPI_Comm comm) {
  const int right = (me + 1) % kRanks, left = (me + kRanks - 1) % kRanks;
  MPI_Request request;
  MPI_Message message;
  BLOCKING(MPI_Sendrecv, "recvbuf", sent, 12, MPI_BYTE, right, 0, got, 3, MPI_INT, left, 0, comm,
           MPI_STATUS_IGNORE);
  BLOCKING(MPI_Sendrecv, "recvbuf", sent, 12, MPI_BYTE, MPI_PROC_NULL, 0, got, 12, MPI_BYTE,
           MPI_PROC_NULL, 0, comm, MPI_STATUS_IGNORE);
  MPI_Isend(sent, 6, MPI_BYTE, right, 0, comm, &request);
  BLOCKING(MPI_Recv, "buf", got, 6, MPI_BYTE, left, 0, comm, MPI_STATUS_IGNORE);
  finish(&request);
  MPI_Isend(sent, 7, MPI_BYTE, right, 0, comm, &request);
  COMPLETED(finish, MPI_Irecv, "buf", got, 7, MPI_BYTE, left, 0, comm);
  finish(&request);
  MPI_Isend(sent, 8, MPI_BYTE, right, 0, comm, &request);
  COMPLETED(start, MPI_Recv_init, "buf", got, 8, MPI_BYTE, left, 0, comm);
  finish(&request);
  MPI_Isend(sent, 9, MPI_BYTE, right, 0, comm, &request);
  MPI_Mprobe(left, 0, comm, &message, MPI_STATUS_IGNORE);
  BLOCKING(MPI_Mrecv, "buf", got, 9, MPI_BYTE, &message, MPI_STATUS_IGNORE);
  finish(&request);
  MPI_Isend(sent, 10, MPI_BYTE, right, 0, comm, &request);
  MPI_Mprobe(left, 0, comm, &message, MPI_STATUS_IGNORE);
  COMPLETED(finish, MPI_Imrecv, "buf", got, 10, MPI_BYTE, &message);
  finish(&request);
#if MPI_VERSION >= 4
  COMPLETED(finish, MPI_Isendrecv, "recvbuf", sent, 4, MPI_BYTE, right, 0, got, 4, MPI_BYTE, left,
            0, comm);
#endif
  int position = 0;
  BLOCKING(MPI_Unpack, "outbuf", sent, kRoom, &position, got, 5, MPI_INT, comm);
  BLOCKING(MPI_Reduce_local, "inoutbuf", sent, got, 14, MPI_BYTE, MPI_BOR);
}

static void accesses(MPI_Comm comm) {
  unsigned char* base;
  MPI_Win window;
  MPI_Request request;
  MPI_Win_allocate(kRoom, 1, MPI_INFO_NULL, comm, &base, &window);
  memset(base, 0x5a, kRoom);
  MPI_Barrier(comm);
  const int right = (me + 1) % kRanks;
  MPI_Win_lock_all(0, window);
#define ACCESS(function, parameter, ...) \
  do {                                   \
    prepare();                           \
    function(__VA_ARGS__);               \
    MPI_Win_flush(right, window);        \
    report(#function, parameter);        \
  } while (0)
  ACCESS(MPI_Get, "origin_addr", got, 3, MPI_INT, right, 0, 12, MPI_BYTE, window);
  ACCESS(MPI_Rget, "origin_addr", got, 5, MPI_BYTE, right, 0, 5, MPI_BYTE, window, &request);
  finish(&request);
  ACCESS(MPI_Get_accumulate, "result_addr", sent, 6, MPI_BYTE, got, 6, MPI_BYTE, right, 0, 6,
         MPI_BYTE, MPI_BOR, window);
  ACCESS(MPI_Fetch_and_op, "result_addr", sent, got, MPI_INT, right, 0, MPI_BOR, window);
  ACCESS(MPI_Fetch_and_op, "result_addr", NULL, got, MPI_INT, right, 0, MPI_NO_OP, window);
  ACCESS(MPI_Compare_and_swap, "result_addr", sent, sent, got, MPI_INT, right, 0, window);
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
}

static void files(const char* path) {
  MPI_File file;
  MPI_Request request;
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                MPI_INFO_NULL, &file);
  prepare();
  MPI_File_write_at_all(file, (MPI_Offset)me * kRoom, sent, kRoom, MPI_BYTE, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  BLOCKING(MPI_File_read_at, "buf", file, 0, got, 5, MPI_INT, MPI_STATUS_IGNORE);
  BLOCKING(MPI_File_read_at_all, "buf", file, 0, got, 21, MPI_BYTE, MPI_STATUS_IGNORE);
  BLOCKING(MPI_File_read, "buf", file, got, 22, MPI_BYTE, MPI_STATUS_IGNORE);
  BLOCKING(MPI_File_read_all, "buf", file, got, 23, MPI_BYTE, MPI_STATUS_IGNORE);
  prepare();
  MPI_File_iread_at(file, 0, got, 24, MPI_BYTE, &request);
  finish(&request);
  report("MPI_File_iread_at", "buf");
  prepare();
  MPI_File_read_at_all_begin(file, 0, got, 25, MPI_BYTE);
  MPI_File_read_at_all_end(file, got, MPI_STATUS_IGNORE);
  report("MPI_File_read_at_all_begin", "buf");
  MPI_File_close(&file);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  char path[4096];
  snprintf(path, sizeof path, "%s/touched.%d.log", argv[1], me);
  log_file = fopen(path, "w");
  if (log_file == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  snprintf(path, sizeof path, "%s/touched.data", argv[1]);
  collectives(MPI_COMM_WORLD);
  neighbours(MPI_COMM_WORLD);
  messages(MPI_COMM_WORLD);
  accesses(MPI_COMM_WORLD);
  files(path);
  fclose(log_file);
  MPI_Finalize();
  return 0;
}
