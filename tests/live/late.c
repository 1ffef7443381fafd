/* A job in which one rank is late, always the same one, until FOLDER/end is there.
 *
 *   late FOLDER
 *
 *   In each step the last rank computes for 20 ms and sends to all others, which wait for that and
 * do nothing else. Each tenth step ends with a barrier. Whether the file is there rank 0 tells the
 *   others.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { kLateUs = 20000, kMostSteps = 3000, kCount = 16 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, goes_on = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char path[4096];
  snprintf(path, sizeof path, "%s/end", argc > 1 ? argv[1] : ".");
  double out[kCount] = {0}, in[kCount];
  for (int step = 0; goes_on && step < kMostSteps; ++step) {
    if (rank == size - 1) {
      usleep(kLateUs);
      for (int to = 0; to < rank; ++to) MPI_Send(out, kCount, MPI_DOUBLE, to, 1, MPI_COMM_WORLD);
    } else {
      MPI_Recv(in, kCount, MPI_DOUBLE, size - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (step % 10 != 9) continue;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) goes_on = access(path, F_OK) != 0;
    MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
