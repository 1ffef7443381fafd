// What a rank is doing, for whoever finds that nobody gets on.
#pragma once

#include <atomic>
#include <cstdint>

namespace refrain::replay {

// Written by the rank, read by a watcher.
struct Progress {
  std::atomic<uint64_t> seq{0};   // number of the call that is being made
  std::atomic<uint32_t> call{0};  // its function
};

}  // namespace refrain::replay
