// A program of which segments can be made: iterations, some of them slower, with marks around them.
//
//   segmented ITERATIONS [plain | die RANK | crossed | sizes | many RANK]
//
// die: that rank is gone in the middle of it. crossed: marks that do not nest.
// sizes: messages of another size in every iteration, so that no two iterations are equal.
// many: as die, with many calls in a segment, and few signatures.
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <refrain/mark.h>

static void work(int us) {
  const double end = MPI_Wtime() + 1e-6 * us;
  while (MPI_Wtime() < end) {
  }
}

static void exchange(int rank, int size, int bytes) {
  static char in[2][4096], out[4096];
  MPI_Request requests[4];
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  MPI_Irecv(in[0], bytes, MPI_BYTE, left, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(in[1], bytes, MPI_BYTE, right, 2, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(out, bytes, MPI_BYTE, right, 1, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(out, bytes, MPI_BYTE, left, 2, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
  int rank, size, level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int iterations = atoi(argv[1]);
  const char* const way = argc > 2 ? argv[2] : "plain";
  const int sizes = strcmp(way, "sizes") == 0;
  const int many = strcmp(way, "many") == 0;
  const int victim = argc > 3 ? atoi(argv[3]) : -1;
  for (int i = 0; i < iterations; ++i) {
#ifndef SMPI_H  // it has no MPI_Pcontrol
    if (i == iterations / 2) MPI_Pcontrol(4);
#endif
    if (i == iterations / 2 && victim == rank) raise(SIGKILL);
    if (!sizes && !many) refrain_instance("step", i);
    refrain_region_begin("halo");
    // Messages of the second half have another size each: few calls are equal with all parameters.
    for (int k = 0; k < (many ? 40 : 1); ++k)
      exchange(rank, size, i < iterations / 2 && !sizes ? 64 : 64 + i % 1000);
    refrain_region_end("halo");
    refrain_region_begin("solve");
    work(i % 7 == rank ? 60 : 5);
    double sum = rank, all;
    for (int k = 0; k < (sizes ? 1 : 1 + i % 3); ++k)
      MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
      int flag;
      MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
    if (strcmp(way, "crossed") == 0 && i % 5 == 0) refrain_region_end("nothing");
    refrain_region_end("solve");
    if (i % 10 == 9) MPI_Barrier(MPI_COMM_WORLD);
  }
  if (strcmp(way, "crossed") == 0) refrain_region_begin("open");
  MPI_Finalize();
  return 0;
}
