#include "replay/stall.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>

#include "mpi/call_table.h"

namespace refrain::replay {

StallWatch::StallWatch(const Progress& progress, Rank rank, double seconds)
    : progress_(progress), rank_(rank), seconds_(seconds) {
  if (seconds_ > 0) thread_ = std::thread([this] { watch(); });
}

void StallWatch::end() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  ended_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void StallWatch::watch() {
  std::unique_lock lock(mutex_);
  uint64_t seen = UINT64_MAX;
  while (true) {
    const bool over =
        ended_.wait_for(lock, std::chrono::duration<double>(seconds_), [&] { return is_over_; });
    if (over) return;
    const uint64_t now = progress_.seq.load(std::memory_order_relaxed);
    if (now != seen) {
      seen = now;
      continue;
    }
    const auto* const info =
        mpi::find_call(static_cast<mpi::CallId>(progress_.call.load(std::memory_order_relaxed)));
    std::fprintf(stderr, "refrain: replay: rank %lld is in call %llu, %s, for %g s or more\n",
                 static_cast<long long>(rank_), static_cast<unsigned long long>(now),
                 info != nullptr ? std::string(info->name).c_str() : "a call", seconds_);
    std::fflush(nullptr);
    // The others find the same, and say it before a launcher ends them.
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    _exit(1);
  }
}

}  // namespace refrain::replay
