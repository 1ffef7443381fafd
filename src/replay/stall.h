// Ends a replay in which a rank does not get on.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "refrain/ids.h"
#include "replay/progress.h"

namespace refrain::replay {

// Watches one rank from a thread of its own. When no call has begun for `seconds`, it prints the
// call that the rank is in and ends the process with status 1; 0: it watches nothing.
class StallWatch {
 public:
  StallWatch(const Progress& progress, Rank rank, double seconds);
  ~StallWatch() { end(); }
  StallWatch(const StallWatch&) = delete;
  void end();

 private:
  void watch();
  void say(size_t thread) const;
  const Progress& progress_;
  Rank rank_;
  double seconds_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace refrain::replay
