/* OpenMP threads that compute together, and that exchange messages side by side. What a rank prints
 * depends on what others sent to each of its threads. Where OPENMP_CHANGE is set, the last message
 * of one thread has another tag. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { kThreads = 2, kRounds = 20, kValues = 1000 };

int main(int argc, char** argv) {
  int provided, rank, ranks;
  double sums[kThreads] = {0};
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) return 77;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
  double work = 0;
#pragma omp parallel for num_threads(kThreads) reduction(+ : work)
  for (int i = 0; i < kValues; ++i) work += (i + rank) * 0.5;
#pragma omp parallel num_threads(kThreads)
  {
    const int me = omp_get_thread_num();
    double out[4], in[4];
    for (int i = 0; i < kRounds; ++i) {
      for (int k = 0; k < 4; ++k) out[k] = work * (rank + 1) + 10 * me + i + k;
      const int tag = i == kRounds - 1 && me == 1 && getenv("OPENMP_CHANGE") != NULL ? 9 : me;
      MPI_Sendrecv(out, 4, MPI_DOUBLE, to, tag, in, 4, MPI_DOUBLE, from, tag, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
      for (int k = 0; k < 4; ++k) sums[me] += in[k];
    }
  }
  double all = 0, mine = sums[0] + sums[1];
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  printf("rank %d: %.3f %.3f, all %.3f\n", rank, sums[0], sums[1], all);
  MPI_Finalize();
  return 0;
}
