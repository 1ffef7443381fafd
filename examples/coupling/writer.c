/* A program that streams data to another program of its job: Figure 11 of the online-coupling
 * paper.
 *
 *   mpiexec -n 4 ./writer 64 : -n 2 ./reader
 *
 * usage: writer [BLOCKS]: how many blocks of 1 MiB each process writes (64). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "refrain/coupling.h"

int main(int argc, char** argv) {
  const size_t block = 1024 * 1024;
  const int blocks = argc > 1 ? atoi(argv[1]) : 64;
  int rank, status = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  const struct refrain_partition* analyser = refrain_partition_by_name("Analyser");
  if (analyser == NULL) {
    printf("writer: there is no partition \"Analyser\" in this job\n");
    MPI_Finalize();
    return 1;
  }
  refrain_map* map = refrain_map_new();
  refrain_map_partition(map, analyser->id, REFRAIN_MAP_ROUND_ROBIN, 0);

  refrain_stream* stream = refrain_stream_new(block, REFRAIN_BALANCE_ROUND_ROBIN);
  if (refrain_stream_open_map(stream, map, "w") < 0) {
    printf("writer: %s\n", refrain_coupling_error());
    status = 1;
  }
  /* Every byte of a block is the rank, but for the number of the block at its begin. */
  unsigned char* data = malloc(block);
  memset(data, rank, block);
  for (int i = 0; i < blocks && status == 0; ++i) {
    memcpy(data, &i, sizeof i);
    if (refrain_stream_write(stream, data, 1, 0) < 0) {
      printf("writer: %s\n", refrain_coupling_error());
      status = 1;
    }
  }
  refrain_stream_close(stream);
  refrain_map_free(map);
  free(data);
  MPI_Finalize();
  return status;
}
