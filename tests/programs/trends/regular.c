/* The same waiting in every iteration, on 8 ranks.
 *
 *   regular CASE [ITERATIONS]
 *
 * early_gather          the root gathers before the others have their part: it waits kExtra
 * imbalance_at_barrier  rank r works kBase + r * kStep: it waits for the last rank
 * late_receiver         odd ranks receive kExtra after even ones have started a synchronous send
 * late_sender           even ranks send kExtra after odd ones have started to receive
 * late_broadcast        the root works kExtra longer than the others, which wait for its broadcast
 */
#include "work.h"

enum { kCount = 256, kIterations = 100 };
static const double kBase = 0.002, kExtra = 0.004, kStep = 0.0005;
static double g_part[kCount];

static void early_gather(int i) {
  (void)i;
  static double all[kCount * 1024];
  do_work(g_rank == 0 ? kBase : kBase + kExtra);
  MPI_Gather(g_part, kCount, MPI_DOUBLE, all, kCount, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static void imbalance_at_barrier(int i) {
  (void)i;
  do_work(kBase + g_rank * kStep);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Even ranks send to the next one. */
static int is_sender(void) { return g_rank % 2 == 0; }
static int partner(void) {
  const int other = is_sender() ? g_rank + 1 : g_rank - 1;
  return other < g_size ? other : MPI_PROC_NULL;
}

static void late_receiver(int i) {
  (void)i;
  if (is_sender()) {
    do_work(kBase);
    MPI_Ssend(g_part, kCount, MPI_DOUBLE, partner(), kTag, MPI_COMM_WORLD);
  } else {
    do_work(kBase + kExtra);
    MPI_Recv(g_part, kCount, MPI_DOUBLE, partner(), kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void late_sender(int i) {
  (void)i;
  if (is_sender()) {
    do_work(kBase + kExtra);
    MPI_Send(g_part, kCount, MPI_DOUBLE, partner(), kTag, MPI_COMM_WORLD);
  } else {
    do_work(kBase);
    MPI_Recv(g_part, kCount, MPI_DOUBLE, partner(), kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void late_broadcast(int i) {
  (void)i;
  do_work(g_rank == 0 ? kBase + kExtra : kBase);
  MPI_Bcast(g_part, kCount, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  static const struct trend_case kCases[] = {{"early_gather", early_gather},
                                             {"imbalance_at_barrier", imbalance_at_barrier},
                                             {"late_receiver", late_receiver},
                                             {"late_sender", late_sender},
                                             {"late_broadcast", late_broadcast}};
  begin(&argc, &argv);
  const int status = run_case(argc, argv, kCases, sizeof kCases / sizeof *kCases, kIterations);
  MPI_Finalize();
  return status;
}
