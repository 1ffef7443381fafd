// Preloaded into one rank each: its CLOCK_MONOTONIC goes faster than the system's for a second, and
// slower for the next, the more so the higher the rank. After two seconds it is where it was.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { kBendNs = 1000000000, kMillionths = 2000 };

static long rank_of_this(void) {
  const char* rank = getenv("PMI_RANK");
  if (rank == NULL) rank = getenv("OMPI_COMM_WORLD_RANK");
  return rank == NULL ? 0 : strtol(rank, NULL, 10);
}

int clock_gettime(clockid_t id, struct timespec* t) {
  const int rc = (int)syscall(SYS_clock_gettime, id, t);
  if (rc != 0 || id != CLOCK_MONOTONIC) return rc;
  const int64_t ns = t->tv_sec * INT64_C(1000000000) + t->tv_nsec;
  const int64_t phase = ns % (2 * kBendNs);
  const int64_t up = phase < kBendNs ? phase : 2 * kBendNs - phase;
  const int64_t bent = ns + up / 1000 * kMillionths / 1000 * rank_of_this();
  t->tv_sec = bent / 1000000000;
  t->tv_nsec = bent % 1000000000;
  return 0;
}
