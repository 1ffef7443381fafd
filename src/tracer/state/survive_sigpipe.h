// The program goes on where nobody reads what the recorder prints: `refrain record ./app | head`.
#pragma once

#include <signal.h>

#include <cerrno>
#include <ctime>

#include "base/no_cancel.h"
#include "tracer/state/keep_errno.h"

namespace refrain::tracer {

// While it lives, what the calling thread writes to a pipe without a reader fails and raises
// nothing, and the thread is not cancelled. Takes no memory and may be used in handlers of signals.
// A SIGPIPE that was pending stays.
class SurviveSigpipe {
 public:
  SurviveSigpipe() {
    sigset_t pending;
    sigemptyset(&pending);
    sigpending(&pending);
    if (sigismember(&pending, SIGPIPE) == 1) return;
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    is_blocked_ = pthread_sigmask(SIG_BLOCK, &pipe_, &before_) == 0;
  }
  ~SurviveSigpipe() {
    if (!is_blocked_) return;
    const timespec none{};
    while (sigtimedwait(&pipe_, nullptr, &none) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SurviveSigpipe(const SurviveSigpipe&) = delete;
  SurviveSigpipe& operator=(const SurviveSigpipe&) = delete;

 private:
  const KeepErrno keep_;
  const base::NoCancel no_cancel_;
  sigset_t pipe_, before_;
  bool is_blocked_ = false;
};

}  // namespace refrain::tracer
