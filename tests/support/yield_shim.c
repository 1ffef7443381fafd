// Preload for MPICH on fewer cores than ranks: give the core away when a progress poll did nothing.
//
// MPICH busy-waits in ucp_worker_progress(). With more ranks than cores the waiting rank burns the
// time slice that the rank it waits for needs; with this shim a run takes 1/100 of the time.
// A test helper only: no part of what users run.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>

typedef unsigned (*progress_fn)(void*);

unsigned ucp_worker_progress(void* worker);

unsigned ucp_worker_progress(void* worker) {
  static progress_fn real;
  progress_fn fn = __atomic_load_n(&real, __ATOMIC_RELAXED);
  if (fn == NULL) {
    fn = (progress_fn)dlsym(RTLD_NEXT, "ucp_worker_progress");
    __atomic_store_n(&real, fn, __ATOMIC_RELAXED);
  }
  const unsigned done = fn(worker);
  if (done == 0) sched_yield();
  return done;
}
