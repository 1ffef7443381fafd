// A thread that is cancelled ends in the next function of the system that may be such an end: open,
// write, nanosleep and others. Programs count on it that the calls of theirs that they know to be
// none do not end them. So where code of ours runs on their threads, it is no such place either,
// and cannot leave a lock behind.
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
