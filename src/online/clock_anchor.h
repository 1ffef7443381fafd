// ClockAnchor: what a rank's clock shows when the system's clock shows something. States of ranks
// are told by the latter, times of their calls by the former, whose rate the recorder measures in
// MPI_Init, in a short time, and then keeps. The two are compared wherever a moment is known on
// both; the newest comparison counts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "format/spool/layout.h"
#include "format/time/data.h"

namespace refrain::online {

// Comparisons of a rank's clock with the common one: as those of a trace (format/time/data.h), and
// no longer than nine years.
inline bool are_good_points(const std::vector<format::ClockPoint>& points) {
  constexpr int64_t kMost = int64_t{1} << 58;
  for (size_t i = 0; i < points.size(); ++i) {
    const format::ClockPoint& p = points[i];
    if (std::max({p.local_ns, p.common_ns}) > kMost || std::min({p.local_ns, p.common_ns}) < -kMost)
      return false;
    if (i > 0 && (p.local_ns <= points[i - 1].local_ns || p.common_ns < points[i - 1].common_ns))
      return false;
  }
  return true;
}

class ClockAnchor {
 public:
  // What is known of the rank before its first call.
  void begin(const format::spool::Header& h) {
    const uint64_t ticks = h.init_ticks - std::min(h.init_ticks, h.opened_ticks);
    wall_ns_ =
        h.opened_realtime_ns + static_cast<uint64_t>(static_cast<double>(ticks) * h.ns_per_tick);
    local_ns_ = 0;
  }

  // A moment on both. One that does not fit is left out: it may be that of another call (of a
  // callback, or left out of the record); but not if none fits any more. The first comparison is
  // only that of begin(), which reads two clocks, and somebody may have been in between.
  void add(uint64_t wall_ns, uint64_t local_ns) {
    if (wall_ns <= wall_ns_) return;
    const uint64_t there = local_ns_ + (wall_ns - wall_ns_);
    const uint64_t off = there > local_ns ? there - local_ns : local_ns - there;
    if (!is_weak_ && off > 2 * share(wall_ns - wall_ns_) + kJitterNs) {
      is_weak_ = ++refused_ >= kMostRefused;
      return;
    }
    wall_ns_ = wall_ns, local_ns_ = local_ns;
    is_weak_ = false;
    refused_ = 0;
  }

  // What the rank's clock shows then at least, less a margin.
  uint64_t at_least(uint64_t wall_ns, uint64_t margin_ns) const {
    const uint64_t since = wall_ns - std::min(wall_ns, wall_ns_);
    const uint64_t local = local_ns_ + since, less = margin_ns + share(since);
    return local - std::min(local, less);
  }

 private:
  // Rates that are off by more than this are rare.
  static uint64_t share(uint64_t ns) {
    return static_cast<uint64_t>(static_cast<double>(ns) * 0.01);
  }
  static constexpr uint64_t kJitterNs = 1'000'000;
  static constexpr int kMostRefused = 5;

  uint64_t wall_ns_ = 0, local_ns_ = 0;
  bool is_weak_ = true;
  int refused_ = 0;
};

}  // namespace refrain::online
