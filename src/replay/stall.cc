#include "replay/stall.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

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

void StallWatch::say(size_t thread) const {
  const Progress::OfThread& it = progress_.of_thread[thread];
  const auto* const info =
      mpi::find_call(static_cast<mpi::CallId>(it.call.load(std::memory_order_relaxed)));
  const std::string which =
      progress_.of_thread.size() > 1 ? ", thread " + std::to_string(thread) : "";
  std::fprintf(stderr, "refrain: replay: rank %lld%s is in call %llu, %s, for %g s or more\n",
               static_cast<long long>(rank_), which.c_str(),
               static_cast<unsigned long long>(it.seq.load(std::memory_order_relaxed)),
               info != nullptr ? std::string(info->name).c_str() : "a call", seconds_);
}

void StallWatch::watch() {
  std::unique_lock lock(mutex_);
  std::vector<uint64_t> seen;
  while (true) {
    const bool over =
        ended_.wait_for(lock, std::chrono::duration<double>(seconds_), [&] { return is_over_; });
    if (over) return;
    std::vector<uint64_t> now;
    for (const Progress::OfThread& thread : progress_.of_thread)
      now.push_back(thread.seq.load(std::memory_order_relaxed));
    if (now != seen) {
      seen = now;
      continue;
    }
    for (size_t t = 0; t < now.size(); ++t) say(t);
    std::fflush(nullptr);
    // The others find the same, and say it before a launcher ends them.
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    _exit(1);
  }
}

}  // namespace refrain::replay
