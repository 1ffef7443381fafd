// The time of day, as looks at jobs say it.
#pragma once

#include <chrono>
#include <cstdint>

namespace refrain::online {

// Nanoseconds since 1970.
inline uint64_t realtime_ns() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::system_clock::now().time_since_epoch())
                                   .count());
}

}  // namespace refrain::online
