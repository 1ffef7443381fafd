// Keeps the threads of an MPI library that wait in poll() busy for a while when they wake, as if
// others had their cores: REFRAIN_TEST_LATE_MS. Preloaded.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

int poll(struct pollfd* files, nfds_t count, int timeout) {
  typedef int (*Poll)(struct pollfd*, nfds_t, int);
  const Poll real = (Poll)dlsym(RTLD_NEXT, "poll");
  const int ready = real(files, count, timeout);
  const char* const late = getenv("REFRAIN_TEST_LATE_MS");
  if (late == NULL || syscall(SYS_gettid) == getpid()) return ready;
  for (const double end = now_ms() + atof(late); now_ms() < end;) {
  }
  return ready;
}
