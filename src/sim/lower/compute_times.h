// ComputeTimes: what a thread computes before a call, where a simulation does not take it from the
// trace.
#pragma once

#include <cstdint>
#include <string>

#include "refrain/ids.h"

namespace refrain::sim {

class ComputeTimes {
 public:
  virtual ~ComputeTimes() = default;
  // Between the end of call `seq` - 1 of a thread and the begin of call `seq`, `seq` > 0, in ns.
  // The trace would say `recorded_ns`. Any thread may ask, at any time.
  virtual uint64_t before(Rank rank, uint32_t thread, uint64_t seq, uint64_t recorded_ns) const = 0;
  // For Simulation::compute_from.
  virtual std::string name() const = 0;
};

}  // namespace refrain::sim
