/* Programs of one job that find each other (refrain/coupling.h). What each process prints is known.
 *
 *   coupled MODE [WORD]      the processes that are called "sink" are those with WORD = sink
 *
 * parts   what partitions there are, by every process
 * maps    partners of every policy, and those that a function chose
 * both    every process of one side sends the other one numbers, both ways at once, in blocks of
 * different sizes leave   sources end MPI with the stream open die     the source with the highest
 * rank is killed when all its blocks but the last were taken */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "refrain/coupling.h"

static int rank, is_sink;

static const struct refrain_partition* other_side(void) {
  const int own = refrain_partition_id();
  return refrain_partition_by_id(own == 0 ? 1 : 0);
}

static void parts(void) {
  int size, own;
  MPI_Comm_size(MPI_Comm_f2c(refrain_universe_comm()), &size);
  MPI_Comm_rank(MPI_Comm_f2c(refrain_partition_comm()), &own);
  printf("%d: %d of %d, process %d, universe %d:", rank, refrain_partition_id(),
         refrain_partition_count(), own, size);
  for (int id = 0; id < refrain_partition_count(); ++id) {
    const struct refrain_partition* p = refrain_partition_by_id(id);
    printf(" %s/%d", strrchr(p->name, '/') ? strrchr(p->name, '/') + 1 : p->name, p->size);
    for (int i = 0; i < p->size; ++i) printf(",%d", p->ranks[i]);
    if (refrain_partition_by_name(p->name) != p) printf(" not by its name");
  }
  printf(" %s\n", refrain_partition_by_name("nobody") == NULL && refrain_partition_by_id(99) == NULL
                      ? "none"
                      : "some");
}

static int last_to_first(int source, int source_count, int target_count, void* context) {
  const int skip = *(int*)context;
  if (source == skip) return -1;
  return (source_count - 1 - source) % target_count;
}

static int out_of_range(int source, int source_count, int target_count, void* context) {
  (void)context;
  return source == source_count - 1 ? target_count : 0;
}

static void print_map(const char* what, const refrain_map* map) {
  printf("%d: %s:", rank, what);
  for (int i = 0; i < refrain_map_size(map); ++i) printf(" %d", refrain_map_ranks(map)[i]);
  printf("\n");
}

static void maps(void) {
  const char* names[] = {"round robin", "random", "fixed"};
  const int other = other_side()->id;
  refrain_map* map = refrain_map_new();
  for (int policy = REFRAIN_MAP_ROUND_ROBIN; policy <= REFRAIN_MAP_FIXED; ++policy) {
    refrain_map_clear(map);
    const int added = refrain_map_partition(map, other, policy, 5);
    print_map(names[policy], map);
    if (added != refrain_map_size(map)) printf("%d: added %d\n", rank, added);
  }
  int skip = 1;
  refrain_map_clear(map);
  refrain_map_partition_by(map, other, last_to_first, &skip);
  print_map("chosen", map);
  refrain_map_partition(map, other, REFRAIN_MAP_ROUND_ROBIN, 0);
  print_map("added", map);
  if (refrain_map_partition_by(map, other, out_of_range, NULL) == REFRAIN_EINVALID)
    printf("%d: %s\n", rank, refrain_coupling_error());
  if (refrain_map_partition(map, refrain_partition_id(), 0, 0) != REFRAIN_EINVALID ||
      refrain_map_partition(map, other, 3, 0) != REFRAIN_EINVALID)
    printf("%d: a wrong map was made\n", rank);
  refrain_map_free(map);
}

/* Each end writes 100 blocks and reads until the others have closed; numbers of each partner come
 * in order. */
static void both(void) {
  enum { kBlocks = 100, kBytes = 40000 };
  refrain_map* map = refrain_map_new();
  refrain_map_partition(map, other_side()->id, REFRAIN_MAP_FIXED, 0);
  refrain_stream* stream = refrain_stream_new(kBytes, REFRAIN_BALANCE_ROUND_ROBIN);
  refrain_stream_set_buffers(stream, 2);
  if (refrain_stream_open_map(stream, map, "rw") < 0)
    printf("%d: %s\n", rank, refrain_coupling_error());
  char* data = calloc(1, kBytes);
  int last[64], written = 0, got_blocks = 0, good = 1;
  memset(last, -1, sizeof last);
  /* All that all partners write: they divide their blocks among as many as they have. */
  while (written < kBlocks) {
    memcpy(data, &written, sizeof written);
    const size_t bytes = (size_t)(written * 7919 % kBytes);
    const long code =
        refrain_stream_write_bytes(stream, data, bytes < 4 ? 4 : bytes, REFRAIN_NONBLOCK);
    if (code > 0) ++written;
    int from, number;
    const long got = refrain_stream_read_bytes(stream, data, REFRAIN_NONBLOCK, &from);
    if (got <= 0) continue;
    memcpy(&number, data, sizeof number);
    good &= number > last[from];
    const long expected = number * 7919 % kBytes;
    good &= got == (expected < 4 ? 4 : expected);
    last[from] = number;
    ++got_blocks;
  }
  if (refrain_stream_close(stream) != 0) printf("%d: %s\n", rank, refrain_coupling_error());
  printf("%d: %s\n", rank, good && got_blocks > 0 ? "in order" : "out of order");
  refrain_map_free(map);
  free(data);
}

/* A sink reads; every source writes 3 blocks of 1 MiB. Then it leaves, or is killed. */
static void some_end(int die) {
  refrain_map* map = refrain_map_new();
  refrain_map_partition(map, other_side()->id, REFRAIN_MAP_FIXED, 0);
  refrain_stream* stream = refrain_stream_new(0, REFRAIN_BALANCE_NONE);
  char* data = calloc(1, 1 << 20);
  refrain_stream_open_map(stream, map, is_sink ? "r" : "w");
  if (is_sink) {
    int blocks = 0, code, dead[64];
    while ((code = refrain_stream_read(stream, data, 1, 0)) != 0) {
      if (code > 0) blocks += code;
      if (code < 0) printf("%d: %s\n", rank, refrain_coupling_error());
    }
    const int count = refrain_stream_dead(stream, dead, 64);
    printf("%d: %d blocks, %d dead\n", rank, blocks, count);
    fflush(stdout);
    if (die) MPI_Abort(MPI_COMM_WORLD, 3); /* MPI_Finalize may wait for the dead */
    refrain_stream_close(stream);
  } else {
    for (int i = 0; i < 3; ++i) refrain_stream_write(stream, data, 1, 0);
    const struct refrain_partition* own = refrain_partition_by_id(refrain_partition_id());
    if (die && rank == own->ranks[own->size - 1]) {
      usleep(300000); /* in which the sink takes them */
      refrain_stream_write_bytes(stream, data, 4, 0);
      kill(getpid(), SIGKILL);
    }
    if (die) {
      refrain_stream_close(stream);
      sleep(30); /* until the sink ends the job: a launcher takes a process that ends now for one
                    that died */
    }
  }
  refrain_map_free(map);
  free(data);
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "";
  is_sink = argc > 2 && strcmp(argv[2], "sink") == 0;
  if (is_sink) refrain_partition_set_name("sink");
  if (refrain_partition_count() != REFRAIN_EINVALID || refrain_coupling_start() != REFRAIN_EINVALID)
    printf("the coupling is there before MPI_Init\n");
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (refrain_partition_set_name("late") != REFRAIN_EINVALID)
    printf("%d: renamed while it runs\n", rank);
  if (strcmp(mode, "parts") == 0) parts();
  if (strcmp(mode, "maps") == 0) maps();
  if (strcmp(mode, "both") == 0) both();
  if (strcmp(mode, "leave") == 0) some_end(0);
  if (strcmp(mode, "die") == 0) {
    signal(SIGUSR1, SIG_IGN); /* MPICH's launcher tells survivors that somebody died */
    some_end(1);
  }
  MPI_Finalize();
  return 0;
}
