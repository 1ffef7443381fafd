// Requests of calls that are left out (while recording is paused, or by a filter). They are tracked
// but not recorded, so that a recorded completion can name them.
//
// Such a request has no terminal yet: its number has kLeftOut set, and the rest is an index of
// Process::left_out, where the signature is kept. The first recorded call that refers to it makes
// it a terminal, with no calls of its own.
#pragma once

#include <cstdint>

namespace refrain::tracer {

inline constexpr uint32_t kLeftOut = uint32_t{1} << 31;
inline constexpr uint32_t kFilteredOut = uint32_t{1} << 30;  // by a filter, not by a pause
inline constexpr uint32_t kLeftOutIndex = kFilteredOut - 1;

constexpr bool is_filtered(uint32_t terminal) {
  return (terminal & kLeftOut) != 0 && (terminal & kFilteredOut) != 0;
}

}  // namespace refrain::tracer
