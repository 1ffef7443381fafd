/* Two programs of one job that copy nothing: the first one fills blocks where they are sent, the
 * second one looks at them where they were received.
 *
 *   mpiexec -n 3 ./frames 20 : -n 1 ./frames
 *
 * usage: frames [FRAMES]: frames of 1 MiB that each process makes; without it the processes sum up
 * what the others make. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "refrain/coupling.h"

enum { kNumbers = 1 << 17, kBytes = kNumbers * (int)sizeof(double) };

static void give_up(void) {
  printf("frames: %s\n", refrain_coupling_error());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void make(refrain_stream* stream, int frames) {
  for (int frame = 0; frame < frames; ++frame) {
    void* block;
    if (refrain_stream_acquire(stream, &block, 0) != 0) give_up();
    double* const numbers = block;
    for (int i = 0; i < kNumbers; ++i) numbers[i] = frame;
    if (refrain_stream_commit(stream, block, kBytes, 0) != kBytes) give_up();
  }
}

static void sum_up(refrain_stream* stream, int rank) {
  const void* block;
  int from, frames = 0;
  long bytes;
  double sum = 0;
  while ((bytes = refrain_stream_borrow(stream, &block, 0, &from)) > 0) {
    const double* const numbers = block;
    for (size_t i = 0; i < (size_t)bytes / sizeof(double); ++i) sum += numbers[i];
    ++frames;
    if (refrain_stream_release(stream, block) != 0) give_up();
  }
  if (bytes < 0) give_up();
  printf("frames %d: %d frames, sum %.0f\n", rank, frames, sum);
}

int main(int argc, char** argv) {
  int rank;
  refrain_partition_set_name(argc > 1 ? "makers" : "summer");
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const struct refrain_partition* const other =
      refrain_partition_by_name(argc > 1 ? "summer" : "makers");
  if (other == NULL) {
    printf("frames: there is nobody at the other end\n");
    MPI_Finalize();
    return 1;
  }
  refrain_map* const map = refrain_map_new();
  refrain_map_partition(map, other->id, REFRAIN_MAP_FIXED, 0);
  refrain_stream* const stream = refrain_stream_new(kBytes, REFRAIN_BALANCE_ROUND_ROBIN);
  if (refrain_stream_open_map(stream, map, argc > 1 ? "w" : "r") < 0) give_up();
  if (argc > 1)
    make(stream, atoi(argv[1]));
  else
    sum_up(stream, rank);
  refrain_stream_close(stream);
  refrain_map_free(map);
  MPI_Finalize();
  return 0;
}
