// SIGINT and SIGTERM end the verbs that go on until they are told to stop.
#pragma once

#include <csignal>

namespace refrain::cli {

inline volatile std::sig_atomic_t g_is_told_to_stop = 0;
inline bool is_told_to_stop() { return g_is_told_to_stop != 0; }

// Waits of this thread end then.
inline void stop_on_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { g_is_told_to_stop = 1; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace refrain::cli
