// Broadcasts first of all, and receives whatever comes from anybody: a message of somebody else's
// would be seen.
#include "calls.h"

enum { kRounds = 20, kNumbers = 1000 };

int main(int argc, char** argv) {
  int numbers[kNumbers] = {0};
  int rank, size;
  log_init(&argc, &argv, &rank, &size);
  L_Bcast(numbers, kNumbers, MPI_INT, 0, MPI_COMM_WORLD);
  long sum = 0;
  for (int round = 0; round < kRounds; ++round) {
    const int to = round % size;
    int mine[2] = {rank, 100 * round + rank};
    if (rank != to) L_Send(mine, 2, MPI_INT, to, mine[1], MPI_COMM_WORLD);
    for (int i = 1; rank == to && i < size; ++i) {
      int theirs[2] = {-1, -1};
      MPI_Status st;
      L_Recv(theirs, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &st);
      EXPECT(theirs[0] == st.MPI_SOURCE && theirs[1] == st.MPI_TAG && st.MPI_TAG / 100 == round);
      sum += theirs[1];
    }
    long all = 0;
    L_Allreduce(&sum, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    sum = all;
  }
  printf("rank %d of %d: %ld\n", rank, size, sum);
  log_finalize();
  return 0;
}
