/* Two kinds of ranks, whose computation differs by iteration, and nobody waits.
 *
 *   swapped swapped [ITERATIONS]
 *
 * An iteration works before MPI_Comm_size and before MPI_Barrier, kShort and kLong. Even ranks work
 * long before MPI_Comm_size in one iteration of four, the first one among them, odd ranks in the
 * other three. All of an iteration takes each rank the same time: which iterations of a rank stand
 * for others shows in no wait, but in how long it computes where.
 */
#include "work.h"

enum { kIterations = 80 };
static const double kShort = 0.001, kLong = 0.003;

static void swapped(int i) {
  const int is_early = (g_rank % 2 == 0) == (i % 4 == 0);
  int size;
  do_work(is_early ? kLong : kShort);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  do_work(is_early ? kShort : kLong);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  static const struct trend_case kCases[] = {{"swapped", swapped}};
  begin(&argc, &argv);
  const int status = run_case(argc, argv, kCases, sizeof kCases / sizeof *kCases, kIterations);
  MPI_Finalize();
  return status;
}
