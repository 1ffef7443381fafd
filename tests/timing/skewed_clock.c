// Preloaded into one rank each: its CLOCK_MONOTONIC is off by so many seconds per rank, and runs
// faster by so many millionths, as if it were on another machine.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { kSecondsPerRank = 7, kMillionthsPerRank = 300 };

static long rank_of_this(void) {
  const char* rank = getenv("PMI_RANK");
  if (rank == NULL) rank = getenv("OMPI_COMM_WORLD_RANK");
  return rank == NULL ? 0 : strtol(rank, NULL, 10);
}

int clock_gettime(clockid_t id, struct timespec* t) {
  const int rc = (int)syscall(SYS_clock_gettime, id, t);
  if (rc != 0 || id != CLOCK_MONOTONIC) return rc;
  const long rank = rank_of_this();
  const int64_t ns = t->tv_sec * INT64_C(1000000000) + t->tv_nsec;
  const int64_t skewed =
      ns + rank * kSecondsPerRank * INT64_C(1000000000) + ns / 1000000 * rank * kMillionthsPerRank;
  t->tv_sec = skewed / 1000000000;
  t->tv_nsec = skewed % 1000000000;
  return 0;
}
