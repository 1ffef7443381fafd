// Steps that take a while, with a barrier or the like of all ranks behind each.
//
//   slow_steps STEPS MICROSECONDS [alike | paused | dup | abort]
//
// paused: rank 1 has its recording paused for some steps. dup: on a communicator of the same ranks.
// abort: rank 1 gives up in the end.
#define _DEFAULT_SOURCE
#include <string.h>
#include <unistd.h>

#include "calls.h"

int main(int argc, char** argv) {
  int rank, size, all[64];
  log_init(&argc, &argv, &rank, &size);
  const int steps = argc > 1 ? atoi(argv[1]) : 10, pause_us = argc > 2 ? atoi(argv[2]) : 1000;
  const char* how = argc > 3 ? argv[3] : "alike";
  MPI_Comm comm = MPI_COMM_WORLD;
  if (strcmp(how, "dup") == 0)
    DO(MPI_Comm_dup(MPI_COMM_WORLD, &comm), "comm:C newcomm:C+", MPI_COMM_WORLD, comm, "@@dup");
  for (int i = 0; i < steps; ++i) {
    if (strcmp(how, "paused") == 0 && rank == 1 && (i == steps / 4 || i == steps / 2))
      MPI_Pcontrol(i == steps / 4 ? 0 : 1);
    usleep((useconds_t)pause_us);
    double one = rank, sum = 0.0;
    switch (i % 4) {
      case 0: L_Barrier(comm); break;
      case 1: L_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, comm); break;
      case 2:
        DO(MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, comm),
           "sendcount:i sendtype:D recvcount:i recvtype:D comm:C", 1, MPI_INT, 1, MPI_INT, comm);
        break;
      default: L_Bcast(&one, 1, MPI_DOUBLE, i % size, comm); break;
    }
  }
  if (strcmp(how, "abort") == 0 && rank == 1) MPI_Abort(MPI_COMM_WORLD, 9);
  if (comm != MPI_COMM_WORLD) L_Comm_free(&comm);
  log_finalize();
  return 0;
}
