/* How fast blocks of 1 MiB go from writers to readers: by streams of coupling.h, and by plain
 * MPI_Isend and MPI_Irecv between the same processes with as many buffers, in turn. Beside it what
 * memcpy does in the caches. Figure 14 of the online-coupling paper.
 *
 *   mpiexec -n 4 stream_rate writer 256 : -n 1 stream_rate reader 256
 *
 * usage: stream_rate writer|reader [BLOCKS [REPEATS [FRESH]]]: blocks of each writer (256), and how
 * many bytes of each one it makes anew (4096), the same for all. More writers than readers. Prints
 * for each repeat "writers readers memcpy plain in_place copied", in MiB/s of all writers together:
 * in_place is a stream whose blocks are filled and looked at where they are, copied one that writes
 * from and reads into the program's memory. A reader looks at one byte of each page, in all ways.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "refrain/coupling.h"

enum { kBlock = 1 << 20, kBuffers = 3, kMaxPartners = 64, kPage = 4096, kTag = 7 };

static volatile long seen;   /* what readers have found */
static size_t fresh = kPage; /* bytes of each block that its writer makes anew */

static void look_at(const unsigned char* data) {
  for (long i = 0; i < kBlock; i += kPage) seen += data[i];
}

static void give_up(const char* what) {
  fprintf(stderr, "stream_rate: %s: %s\n", what, refrain_coupling_error());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Memory that was never written to would be one page of zeros, which no copy has to fetch. */
static unsigned char* new_block(int value) {
  unsigned char* const block = aligned_alloc(kPage, kBlock);
  memset(block, value, kBlock);
  return block;
}

static void write_plainly(const refrain_map* map, unsigned char* data, int blocks) {
  static unsigned char* buffers[kBuffers];
  MPI_Request requests[kBuffers];
  for (int i = 0; i < kBuffers; ++i) {
    if (buffers[i] == NULL) buffers[i] = new_block(data[0]);
    requests[i] = MPI_REQUEST_NULL;
  }
  for (int i = 0; i < blocks; ++i) {
    const int at = i % kBuffers;
    MPI_Wait(&requests[at], MPI_STATUS_IGNORE);
    memset(buffers[at], data[0], fresh);
    MPI_Isend(buffers[at], kBlock, MPI_BYTE, refrain_map_ranks(map)[0], kTag, MPI_COMM_WORLD,
              &requests[at]);
  }
  MPI_Waitall(kBuffers, requests, MPI_STATUSES_IGNORE);
}

static void read_plainly(const refrain_map* map, int blocks) {
  static unsigned char* buffers[kMaxPartners * kBuffers];
  MPI_Request requests[kMaxPartners * kBuffers];
  const int writers = refrain_map_size(map), count = writers * kBuffers;
  int posted[kMaxPartners] = {0};
  for (int i = 0; i < count; ++i) {
    if (buffers[i] == NULL) buffers[i] = new_block(0);
    requests[i] = MPI_REQUEST_NULL;
    if (posted[i / kBuffers]++ >= blocks) continue;
    MPI_Irecv(buffers[i], kBlock, MPI_BYTE, refrain_map_ranks(map)[i / kBuffers], kTag,
              MPI_COMM_WORLD, &requests[i]);
  }
  for (int done = 0; done < writers * blocks; ++done) {
    int i;
    MPI_Waitany(count, requests, &i, MPI_STATUS_IGNORE);
    look_at(buffers[i]);
    if (posted[i / kBuffers]++ >= blocks) continue;
    MPI_Irecv(buffers[i], kBlock, MPI_BYTE, refrain_map_ranks(map)[i / kBuffers], kTag,
              MPI_COMM_WORLD, &requests[i]);
  }
}

/* Blocks are copied in and out. */
static void copy(refrain_stream* stream, int is_writer, unsigned char* data, int blocks) {
  int got = 1;
  for (int i = 0; i < blocks && is_writer; ++i) {
    memset(data, data[0], fresh);
    if (refrain_stream_write(stream, data, 1, 0) != 1) give_up("write");
  }
  while (!is_writer && (got = refrain_stream_read(stream, data, 1, 0)) > 0) look_at(data);
  if (got < 0) give_up("read");
}

/* Blocks are made and looked at where they are. */
static void in_place(refrain_stream* stream, int is_writer, const unsigned char* data, int blocks) {
  for (int i = 0; i < blocks && is_writer; ++i) {
    void* block;
    if (refrain_stream_acquire(stream, &block, 0) != 0) give_up("acquire");
    memset(block, data[0], i < kBuffers ? kBlock : fresh);
    if (refrain_stream_commit(stream, block, kBlock, 0) != kBlock) give_up("commit");
  }
  const void* block;
  long got = 1;
  while (!is_writer && (got = refrain_stream_borrow(stream, &block, 0, NULL)) > 0) {
    look_at(block);
    if (refrain_stream_release(stream, block) != 0) give_up("release");
  }
  if (got < 0) give_up("borrow");
}

static void use_stream(const refrain_map* map, int is_writer, unsigned char* data, int blocks,
                       int copies) {
  refrain_stream* const stream = refrain_stream_new(kBlock, REFRAIN_BALANCE_ROUND_ROBIN);
  if (refrain_stream_open_map(stream, map, is_writer ? "w" : "r") < 0) give_up("open");
  if (copies)
    copy(stream, is_writer, data, blocks);
  else
    in_place(stream, is_writer, data, blocks);
  refrain_stream_close(stream);
}

/* MiB/s of `blocks` copies. */
static double copies(unsigned char* data, int blocks) {
  unsigned char* const other = malloc(kBlock);
  memset(other, 1, kBlock);
  const double begin = MPI_Wtime();
  for (int i = 0; i < blocks; ++i) {
    memcpy(other, data, kBlock);
    data[0] = (unsigned char)(other[i % kBlock] + 1);
  }
  const double took = MPI_Wtime() - begin;
  free(other);
  return blocks / took;
}

int main(int argc, char** argv) {
  const int is_writer = argc > 1 && strcmp(argv[1], "writer") == 0;
  const int blocks = argc > 2 ? atoi(argv[2]) : 256, repeats = argc > 3 ? atoi(argv[3]) : 3;
  if (argc > 4) fresh = (size_t)atoi(argv[4]);
  int rank;
  refrain_partition_set_name(is_writer ? "writers" : "readers");
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const struct refrain_partition* const other =
      refrain_partition_by_name(is_writer ? "readers" : "writers");
  if (other == NULL) give_up("writers and readers are needed");
  const int writers = refrain_partition_by_name("writers")->size;
  const int readers = refrain_partition_by_name("readers")->size;
  refrain_map* const map = refrain_map_new();
  refrain_map_partition(map, other->id, REFRAIN_MAP_ROUND_ROBIN, 0);
  if (refrain_map_size(map) > kMaxPartners || writers < readers) give_up("too many partners");
  unsigned char* const data = malloc(kBlock);
  memset(data, rank, kBlock);
  for (int repeat = 0; repeat < repeats; ++repeat) {
    double took[3];
    for (int way = 0; way < 3; ++way) {
      MPI_Barrier(MPI_COMM_WORLD);
      const double begin = MPI_Wtime();
      if (way > 0)
        use_stream(map, is_writer, data, blocks, way == 2);
      else if (is_writer)
        write_plainly(map, data, blocks);
      else
        read_plainly(map, blocks);
      MPI_Barrier(MPI_COMM_WORLD);
      took[way] = MPI_Wtime() - begin;
    }
    if (rank == 0)
      printf("%d %d %.0f %.0f %.0f %.0f\n", writers, readers, copies(data, blocks),
             writers * blocks / took[0], writers * blocks / took[1], writers * blocks / took[2]);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  refrain_map_free(map);
  MPI_Finalize();
  return 0;
}
