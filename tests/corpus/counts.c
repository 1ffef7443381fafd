/* An exchange whose counts follow no rule: each call is a signature of its own, with a number for
 * each rank.
 *
 *   counts [steps]      default 60; at most 16 ranks
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMostRanks = 16, kLeast = 8, kMost = 200 };

/* What two ranks exchange in a step, the same for both. */
static int count_of(int step, int a, int b) {
  const unsigned low = (unsigned)(a < b ? a : b), high = (unsigned)(a < b ? b : a);
  unsigned n = (unsigned)step * 7919u + low * 104729u + high * 1299709u;
  n = (n ^ n >> 15) * 2246822519u;
  return kLeast + (int)((n ^ n >> 13) % (kMost - kLeast));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int steps = argc > 1 ? atoi(argv[1]) : 60;
  int size, rank;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (size > kMostRanks) MPI_Abort(MPI_COMM_WORLD, 1);
  static char out[kMostRanks * kMost], in[kMostRanks * kMost];
  int counts[kMostRanks], places[kMostRanks];
  for (int step = 0; step < steps; ++step) {
    for (int j = 0, sum = 0; j < size; sum += counts[j++]) {
      counts[j] = count_of(step, rank, j);
      places[j] = sum;
    }
    MPI_Alltoallv(out, counts, places, MPI_CHAR, in, counts, places, MPI_CHAR, MPI_COMM_WORLD);
  }
  if (rank == 0) printf("counts: %d ranks, %d steps\n", size, steps);
  MPI_Finalize();
  return 0;
}
