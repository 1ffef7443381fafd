// pthread_cancel() ends a thread at its next cancellation point: open, write, nanosleep and other
// functions of the system. A program may hold a lock while it calls MPI functions that it knows to
// have no such point. So code that runs on the program's threads must have none either: it would
// leave that lock, and its own, behind.
#pragma once

#include <pthread.h>

namespace refrain::base {

// While it lives, the calling thread is not cancelled; a request waits. About 15 instructions for
// each end; in handlers of signals, too.
class NoCancel {
 public:
  NoCancel() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~NoCancel() { pthread_setcancelstate(before_, nullptr); }
  NoCancel(const NoCancel&) = delete;
  NoCancel& operator=(const NoCancel&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace refrain::base
