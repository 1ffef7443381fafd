// PaceClock: the clock by which a replay, or a measurement, lets time pass.
//
// Units: ns. Threads: any.
#pragma once

#include <cstdint>

namespace refrain::replay {

enum class Compute : uint8_t { kSleep, kSpin, kNone };

// The clock by which time passes: the system's, unless ranks live in simulated time.
class PaceClock {
 public:
  virtual ~PaceClock() = default;
  virtual uint64_t now_ns();
  // Returns at that time of now_ns(), or a little later; `how` is not kNone.
  virtual void pass_until(uint64_t ns, Compute how);
};

}  // namespace refrain::replay
