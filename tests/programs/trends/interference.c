/* Equal work everywhere, 1 ms an iteration, that the system interrupts: the interference that
 * Petrini and others found on ASCI Q, where each of 32 nodes had its own daemons and timers.
 *
 *   interference CASE [ITERATIONS]            on 32 ranks
 *
 * nto1, nton, 1ton, 1to1r, 1to1s   gather, barrier, broadcast, receive and synchronous send, each
 * and a barrier behind it, so that every iteration begins together;
 * with _32: every rank has the interruptions of one node, or _1024: those that 32 nodes would have.
 * The periods and lengths are in the manner of that study, shortened so that a second shows them.
 */
#include "work.h"

enum { kCount = 64, kIterations = 1000, kNodes = 32 };
static const double kWork = 0.001;
static double g_part[kCount];
static int g_nodes_here = 1; /* nodes whose interruptions this rank has */

/* Something that interrupts a node: every `period` seconds for `length`. */
struct source {
  int first_node, last_node;
  double period, length;
};
static const struct source kSources[] = {
    {0, kNodes - 1, 0.125, 0.00025}, /* timers of the kernel and of the cluster, on all nodes */
    {0, 0, 0.250, 0.0030},           /* the manager of the cluster */
    {1, 1, 0.330, 0.0015},           /* who counts the votes */
    {31, 31, 0.500, 0.0060},         /* the manager of resources */
};

/* What interrupts a node while its own work goes on from `from` to `to`. */
static double interruptions(int node, double from, double to) {
  double sum = 0;
  for (size_t s = 0; s < sizeof kSources / sizeof *kSources; ++s) {
    const struct source* const source = &kSources[s];
    const int kind = node % kNodes;
    if (kind < source->first_node || kind > source->last_node) continue;
    /* Nodes do not beat in time. */
    const double phase = source->period * ((node * 7919) % 1021) / 1021.0;
    const long before = (long)((from + phase) / source->period);
    const long after = (long)((to + phase) / source->period);
    sum += (double)(after - before) * source->length;
  }
  return sum;
}

static void disturbed_work(void) {
  const double from = g_worked;
  do_work(kWork);
  double stolen = 0;
  for (int n = 0; n < g_nodes_here; ++n)
    stolen += interruptions(g_rank * g_nodes_here + n, from, g_worked);
  if (stolen > 0) spend(stolen);
}

static void n_to_1(int i) {
  (void)i;
  static double all[kCount * 1024];
  disturbed_work();
  MPI_Gather(g_part, kCount, MPI_DOUBLE, all, kCount, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void n_to_n(int i) {
  (void)i;
  disturbed_work();
  MPI_Barrier(MPI_COMM_WORLD);
}

static void one_to_n(int i) {
  (void)i;
  disturbed_work();
  MPI_Bcast(g_part, kCount, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
}

static int partner(void) {
  const int other = g_rank % 2 == 0 ? g_rank + 1 : g_rank - 1;
  return other < g_size ? other : MPI_PROC_NULL;
}

/* The receiver of an eager message waits for a sender that was interrupted ... */
static void one_to_1_receiver(int i) {
  (void)i;
  disturbed_work();
  if (g_rank % 2 == 0) {
    MPI_Send(g_part, kCount, MPI_DOUBLE, partner(), kTag, MPI_COMM_WORLD);
  } else {
    MPI_Recv(g_part, kCount, MPI_DOUBLE, partner(), kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/* ... and a synchronous sender for a receiver. */
static void one_to_1_sender(int i) {
  (void)i;
  disturbed_work();
  if (g_rank % 2 == 0) {
    MPI_Ssend(g_part, kCount, MPI_DOUBLE, partner(), kTag, MPI_COMM_WORLD);
  } else {
    MPI_Recv(g_part, kCount, MPI_DOUBLE, partner(), kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  static const struct trend_case kCases[] = {{"nto1_32", n_to_1},
                                             {"nto1_1024", n_to_1},
                                             {"nton_32", n_to_n},
                                             {"nton_1024", n_to_n},
                                             {"1ton_32", one_to_n},
                                             {"1ton_1024", one_to_n},
                                             {"1to1r_32", one_to_1_receiver},
                                             {"1to1r_1024", one_to_1_receiver},
                                             {"1to1s_32", one_to_1_sender},
                                             {"1to1s_1024", one_to_1_sender}};
  begin(&argc, &argv);
  if (argc > 1 && strstr(argv[1], "_1024") != NULL) g_nodes_here = 1024 / kNodes;
  const int status = run_case(argc, argv, kCases, sizeof kCases / sizeof *kCases, kIterations);
  MPI_Finalize();
  return status;
}
