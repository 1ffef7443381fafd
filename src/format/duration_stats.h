// Statistics of how long calls took.
#pragma once

#include <algorithm>
#include <cstdint>

#include "format/histogram.h"

namespace refrain::format {

// Durations of the calls of one signature over all ranks, or the gaps before them.
struct DurationStats {
  uint64_t count = 0;
  uint64_t min_ns = 0, max_ns = 0;
  double sum_ns = 0;
  Histogram histogram;
};

// All but the histogram, also of other statistics with these members; `from` has calls.
template <class Stats>
void add_times(Stats& to, const Stats& from) {
  to.min_ns = to.count == 0 ? from.min_ns : std::min(to.min_ns, from.min_ns);
  to.max_ns = std::max(to.max_ns, from.max_ns);
  to.count += from.count;
  to.sum_ns += from.sum_ns;
}

inline void add_durations(DurationStats& to, const DurationStats& from) {
  if (from.count == 0) return;
  add_times(to, from);
  to.histogram.add(from.histogram);
}

}  // namespace refrain::format
