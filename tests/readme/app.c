/* What README's commands record: messages of several sizes, a named communicator, collectives,
 * marks. With `die` rank 2 kills itself in the middle. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "refrain/mark.h"

enum { kSteps = 20, kRoom = 1 << 17 };

static char sent[kRoom], got[kRoom];

static void exchange(MPI_Comm comm, int rank, int size, int bytes) {
  MPI_Request requests[2];
  MPI_Irecv(got, bytes, MPI_BYTE, (rank + size - 1) % size, 0, comm, &requests[0]);
  MPI_Isend(sent, bytes, MPI_BYTE, (rank + 1) % size, 0, comm, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/* A call path of its own: docs/diff.md has thresholds on it. */
__attribute__((noinline)) static void solve(MPI_Comm halo, int rank, int size, char* heap) {
  exchange(halo, rank, size, 64);
  exchange(MPI_COMM_WORLD, rank, size, kRoom);
  MPI_Allreduce(&rank, heap, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Alltoall(sent, 8, MPI_BYTE, got, 8, MPI_BYTE, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Comm halo;
  MPI_Init(&argc, &argv);
  MPI_Pcontrol(1);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &halo);
  MPI_Comm_set_name(halo, "halo");
  char* heap = malloc(kRoom);
  for (int step = 0; step < kSteps; ++step) {
    refrain_instance("timestep", step);
    refrain_region_begin("solve");
    solve(halo, rank, size, heap);
    refrain_region_end("solve");
    if (rank == 2 && step == kSteps / 2 && argc > 1 && strcmp(argv[1], "die") == 0) raise(SIGKILL);
  }
  free(heap);
  MPI_Comm_free(&halo);
  MPI_Finalize();
  return 0;
}
