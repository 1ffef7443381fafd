/* A program that gets out of balance until it balances itself, again and again, on 8 ranks.
 *
 *   dynamic dyn_load_balance [ITERATIONS]
 *
 * An iteration is 1 ms of work on every rank right after balancing. From then on the upper half of
 * the ranks work kDrift longer each time, the lower half as much less; after kPeriod iterations the
 * work is spread evenly again. The lower half waits in MPI_Alltoall.
 */
#include "work.h"

enum { kCount = 16, kIterations = 200, kPeriod = 20 };
static const double kWork = 0.001, kDrift = 0.00004;

static void iteration(int i) {
  static double mine[kCount * 1024], theirs[kCount * 1024];
  const double drift = kDrift * (i % kPeriod);
  do_work(g_rank >= g_size / 2 ? kWork + drift : kWork - drift);
  MPI_Alltoall(mine, kCount, MPI_DOUBLE, theirs, kCount, MPI_DOUBLE, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  static const struct trend_case kCases[] = {{"dyn_load_balance", iteration}};
  begin(&argc, &argv);
  const int status = run_case(argc, argv, kCases, 1, kIterations);
  MPI_Finalize();
  return status;
}
