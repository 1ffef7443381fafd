/* A job whose state is known at each moment: it goes on when the test makes a file.
 *
 *   watched FOLDER [end|deadlock|die]
 *
 *   kSteps ring exchanges, then all ranks compute until FOLDER/go1 is there;
 *   rank 0 receives from the last rank, which sends when FOLDER/go2 is there; the others compute
 *   until then;
 *   then MPI_Finalize, or every rank receives from the next one, the third time what nobody sends,
 * or the last rank kills itself and the others compute on.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { kSteps = 100, kCount = 1000, kMostWaits = 10000 };

static void wait_for(const char* folder, const char* name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  for (int i = 0; access(path, F_OK) != 0; ++i) {
    if (i == kMostWaits) _exit(1); /* the test is gone */
    usleep(20000);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char *folder = argv[1], *end = argc > 2 ? argv[2] : "end";
  double out[kCount] = {0}, in[kCount];
  for (int i = 0; i < kSteps; ++i)
    MPI_Sendrecv(out, kCount, MPI_DOUBLE, (rank + 1) % size, 0, in, kCount, MPI_DOUBLE,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  wait_for(folder, "go1");
  if (rank == 0) MPI_Recv(in, 1, MPI_DOUBLE, size - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank != 0) wait_for(folder, "go2");
  if (rank == size - 1) MPI_Send(out, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
  if (strcmp(end, "deadlock") == 0) { /* twice it is sent, the third time it is not */
    for (int i = 0; i < 2; ++i) {
      MPI_Send(out, 1, MPI_DOUBLE, (rank + size - 1) % size, 2, MPI_COMM_WORLD);
      MPI_Recv(in, 1, MPI_DOUBLE, (rank + 1) % size, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Recv(in, 1, MPI_DOUBLE, (rank + 1) % size, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (strcmp(end, "die") == 0) {
    if (rank == size - 1) raise(SIGKILL);
    wait_for(folder, "never");
  }
  MPI_Finalize();
  return 0;
}
