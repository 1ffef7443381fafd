// What a rank is doing, for whoever finds that nobody gets on.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace refrain::replay {

// Written by the threads of the rank, read by a watcher.
struct Progress {
  struct OfThread {
    std::atomic<uint64_t> seq{0};   // number of the call that is being made
    std::atomic<uint32_t> call{0};  // its function
  };
  explicit Progress(size_t threads) : of_thread(threads) {}
  std::vector<OfThread> of_thread;  // never grows
};

}  // namespace refrain::replay
