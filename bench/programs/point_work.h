/* What a rank computes between its calls, as time: for ./dev bench groups, under SMPI.
 *
 * Compiled with -DWITH_WORK a point of a mesh takes 10 ns, give or take 2 % that depend on the rank
 * and on what it did before, so that a run is the same every time and no two ranks are quite alike.
 * Otherwise it takes no time of its own. */
#ifndef REFRAIN_BENCH_POINT_WORK_H
#define REFRAIN_BENCH_POINT_WORK_H

#include <mpi.h>
#include <stdint.h>
#include <time.h>

static inline void work_on(double points) {
#ifdef WITH_WORK
  static uint64_t state;
  static int is_seeded;
  if (!is_seeded) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    state = 88172645463325252u + 977u * (uint64_t)rank;
    is_seeded = 1;
  }
  state = state * 6364136223846793005u + 1442695040888963407u;
  const double noise = 0.98 + 0.04 * ((double)(state >> 11) / 9007199254740992.0);
  const struct timespec time = {0, (long)(10.0 * noise * points)}; /* less than a second */
  nanosleep(&time, NULL);
#else
  (void)points;
#endif
}

#endif
