// Lets the clock that all ranks share begin with the clock of rank 0.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "format/time/data.h"

namespace refrain::format {

// The common clock begins with that of rank 0; of a job without it, with that of the first rank
// that is there.
inline std::vector<std::vector<ClockPoint>> from_zero(std::vector<std::vector<ClockPoint>> clocks) {
  const auto first =
      std::find_if(clocks.begin(), clocks.end(), [](const auto& c) { return !c.empty(); });
  if (first == clocks.end()) return {};
  const int64_t zero = first->front().common_ns - first->front().local_ns;
  for (auto& points : clocks)
    for (ClockPoint& p : points) p.common_ns -= zero;
  return clocks;
}

}  // namespace refrain::format
