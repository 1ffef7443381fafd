/* A program that reads what all other programs of its job stream to it: Figure 12 of the
 * online-coupling paper. Prints how much it got of whom, and how fast, and checks every byte. See
 * writer.c. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "refrain/coupling.h"

/* Whether a block is the next one of its writer: as writer.c makes them. */
static int is_good(const unsigned char* data, size_t bytes, int writer, int* expected) {
  int number;
  memcpy(&number, data, sizeof number);
  int good = number >= *expected;
  *expected = number + 1;
  for (size_t i = sizeof number; i < bytes; ++i) good &= data[i] == (unsigned char)writer;
  return good;
}

int main(int argc, char** argv) {
  const size_t block = 1024 * 1024;
  int rank, size, status = 0;
  refrain_partition_set_name("Analyser");
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  /* Every other partition. */
  refrain_map* map = refrain_map_new();
  for (int id = 0; id < refrain_partition_count(); ++id)
    if (id != refrain_partition_id()) refrain_map_partition(map, id, REFRAIN_MAP_ROUND_ROBIN, 0);

  refrain_stream* stream = refrain_stream_new(block, REFRAIN_BALANCE_ROUND_ROBIN);
  if (refrain_stream_open_map(stream, map, "r") < 0) {
    printf("reader: %s\n", refrain_coupling_error());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  unsigned char* data = malloc(block);
  int* blocks = calloc((size_t)size, sizeof(int));
  int* expected = calloc((size_t)size, sizeof(int));
  const double begin = MPI_Wtime();
  long got, total = 0;
  do {
    int writer;
    got = refrain_stream_read_bytes(stream, data, REFRAIN_NONBLOCK, &writer);
    if (got == REFRAIN_EAGAIN) continue; /* a program could do something else now */
    if (got < 0) {
      printf("reader: %s\n", refrain_coupling_error());
      status = 1;
    }
    if (got > 0) {
      ++blocks[writer];
      total += got;
      if (!is_good(data, (size_t)got, writer, &expected[writer])) {
        printf("reader: a block of rank %d is wrong\n", writer);
        status = 1;
      }
    }
  } while (got != 0); /* 0: all writers have closed their streams */
  const double seconds = MPI_Wtime() - begin;
  refrain_stream_close(stream);

  for (int i = 0; i < refrain_map_size(map); ++i) {
    const int writer = refrain_map_ranks(map)[i];
    printf("reader %d: %d blocks of rank %d\n", rank, blocks[writer], writer);
  }
  fprintf(stderr, "reader %d: %.2f GB/s\n", rank, (double)total / 1e9 / seconds);
  refrain_map_free(map);
  free(data);
  free(blocks);
  free(expected);
  MPI_Finalize();
  return status;
}
