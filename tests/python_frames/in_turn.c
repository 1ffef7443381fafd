// Preloaded: C functions that Python calls and that call MPI, and how often the process has copied
// its own memory by way of the kernel, as the recorder does to read names and lines of Python.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <sys/uio.h>

typedef int (*Barrier)(void*);

static volatile long copies, sink;

long copies_so_far(void) { return copies; }

ssize_t process_vm_readv(pid_t pid, const struct iovec* local, unsigned long locals,
                         const struct iovec* remote, unsigned long remotes, unsigned long flags) {
  static ssize_t (*real)(pid_t, const struct iovec*, unsigned long, const struct iovec*,
                         unsigned long, unsigned long);
  if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, "process_vm_readv");
  __atomic_fetch_add(&copies, 1, __ATOMIC_RELAXED);
  return real(pid, local, locals, remote, remotes, flags);
}

// All lead to the same call from the same frame. What follows the calls keeps them from being
// jumps.
static __attribute__((noinline)) void synchronize(Barrier barrier, void* world) {
  barrier(world);
  sink = 0;
}
void by_one(Barrier barrier, void* world) {
  synchronize(barrier, world);
  sink = 1;
}
void by_other(Barrier barrier, void* world) {
  synchronize(barrier, world);
  sink = 2;
}
