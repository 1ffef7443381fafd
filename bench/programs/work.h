/* Work between messages. Nothing as programs are usually compiled; where computing takes no time,
 * as in a simulation, -DWORK_NS=25 makes it a sleep of so many nanoseconds for each cell.
 * WORK_NOISE, a share, makes each piece of work longer or shorter by up to that, as rank and number
 * of the piece and WORK_SEED decide: the same in every run. */
#ifndef REFRAIN_BENCH_WORK_H
#define REFRAIN_BENCH_WORK_H

#ifdef WORK_NS
#include <time.h>

#ifndef WORK_NOISE
#define WORK_NOISE 0.0
#endif
#ifndef WORK_SEED
#define WORK_SEED 0u
#endif

/* From -1 to 1. */
static inline double work_noise(unsigned rank, unsigned piece) {
  unsigned x = rank * 2654435761u ^ (piece + 1u) * 2246822519u ^ WORK_SEED * 3266489917u;
  x = (x ^ x >> 15) * 2246822519u;
  x = (x ^ x >> 13) * 3266489917u;
  x ^= x >> 16;
  return 2.0 * (double)x / 4294967295.0 - 1.0;
}

static inline void work(int rank, double cells) {
  static unsigned piece;
  const double ns = cells * WORK_NS * (1.0 + WORK_NOISE * work_noise((unsigned)rank, piece++));
  const struct timespec t = {(time_t)(ns / 1e9), (long)ns % 1000000000L};
  nanosleep(&t, NULL);
}
#else
#define work(rank, cells) (void)0
#endif

#endif
