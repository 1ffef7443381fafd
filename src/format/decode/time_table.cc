#include "format/decode/time_table.h"

#include <algorithm>

namespace refrain::format {

namespace {

// Products of two differences of clocks in ns need more than 64 bits.
__extension__ using Wide = __int128;

}  // namespace

int64_t ClockMap::common_of(const std::vector<ClockPoint>& points, int64_t local_ns) {
  if (points.empty()) return local_ns;
  // One comparison tells the offset; that the clocks run at the same speed is all that can be
  // assumed.
  if (points.size() == 1) return points[0].common_ns + (local_ns - points[0].local_ns);
  const auto after =
      std::upper_bound(points.begin(), points.end(), local_ns,
                       [](int64_t ns, const ClockPoint& p) { return ns < p.local_ns; });
  // Before the first point and behind the last one the nearest pair goes on: clocks drift slowly,
  // and calls outside of the comparisons are few.
  const auto i =
      std::clamp<int64_t>(after - points.begin() - 1, 0, static_cast<int64_t>(points.size()) - 2);
  const ClockPoint& a = points[static_cast<size_t>(i)];
  const ClockPoint& b = points[static_cast<size_t>(i + 1)];
  const Wide length = Wide{b.local_ns} - a.local_ns;
  const Wide product = (Wide{local_ns} - a.local_ns) * (Wide{b.common_ns} - a.common_ns);
  // Rounded down, also below zero, so that order is kept.
  const Wide part = product / length - (product % length < 0 ? 1 : 0);
  // Damaged points may be steep; later differences must not overflow.
  constexpr Wide kMost = Wide{1} << 62;
  return static_cast<int64_t>(std::clamp<Wide>(part + a.common_ns, -kMost, kMost));
}

uint64_t ClockMap::to_common(uint64_t local_ns) const {
  const int64_t common = common_of(points_, static_cast<int64_t>(local_ns)) - base_ns_;
  return common < 0 ? 0 : static_cast<uint64_t>(common);
}

TimeTable::TimeTable(const TimeIndex& index)
    : spec_(index.spec), segments_(index.segments), clocks_(index.clocks) {
  for (const TimeChunk& chunk : index.chunks) {
    // Chunks of a location follow each other in the order of its time, also where other locations'
    // chunks are in between, so sums over them give each block its first call and the end before
    // it.
    std::vector<Block>& blocks = locations_[{chunk.rank, chunk.thread}];
    for (const TimeBlock& b : chunk.blocks) {
      Block block{b, block_bytes_, 0, 0};
      if (!blocks.empty()) {
        block.first_call = blocks.back().first_call + blocks.back().block.calls;
        block.before_ns = blocks.back().block.end_ns;
      }
      block_bytes_ += b.bytes;
      ++block_count_;
      blocks.push_back(block);
    }
  }
  for (size_t r = 0; r < clocks_.size(); ++r) {
    // Each rank's own clock is 0 when it enters MPI_Init. The earliest of these is 0 for all, so
    // that no common time is negative.
    const int64_t init = ClockMap::common_of(clocks_[r], 0);
    base_ns_ = r == 0 ? init : std::min(base_ns_, init);
  }
}

const std::vector<TimeTable::Block>& TimeTable::blocks(uint64_t rank, uint32_t thread) const {
  static const std::vector<Block> kNone;
  const auto it = locations_.find({rank, thread});
  return it == locations_.end() ? kNone : it->second;
}

ClockMap TimeTable::clock(uint64_t rank) const {
  return {rank < clocks_.size() ? clocks_[static_cast<size_t>(rank)] : std::vector<ClockPoint>{},
          base_ns_};
}

}  // namespace refrain::format
