#include "similarity/evaluate.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace refrain::similarity {

void ApproximationDistance::add(double difference_ns) {
  const double d = std::min(std::fabs(difference_ns), 9e18);
  largest_ = std::max(largest_, d);
  const auto x = static_cast<uint64_t>(std::ceil(d));
  const auto width = static_cast<unsigned>(std::bit_width(x));
  const unsigned shift = width > kSubBits + 1 ? width - kSubBits - 1 : 0;
  ++counts_[(size_t{shift} << kSubBits) + static_cast<size_t>(x >> shift)];
  ++count_;
}

void ApproximationDistance::add(const ApproximationDistance& other) {
  for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  largest_ = std::max(largest_, other.largest_);
}

double ApproximationDistance::percentile_ns(double percent) const {
  if (count_ == 0) return 0;
  const double wanted = std::ceil(percent / 100 * static_cast<double>(count_));
  uint64_t so_far = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    so_far += counts_[i];
    if (counts_[i] == 0 || static_cast<double>(so_far) < wanted) continue;
    // The bucket i has shift s and values x with x >> s == i - (s << kSubBits): the greatest one.
    const size_t shift = i < (size_t{2} << kSubBits) ? 0 : (i >> kSubBits) - 1;
    const auto top = static_cast<double>(i - (shift << kSubBits) + 1);
    return std::min(largest_, std::ldexp(top, static_cast<int>(shift)) - 1);
  }
  return largest_;
}

double full_trace_bytes(const std::vector<FullTraceRank>& ranks, double name_bytes,
                        const FullTraceFields& fields) {
  double bytes = 0;
  for (const FullTraceRank& r : ranks) {
    bytes += static_cast<double>(r.unique_events) * (fields.map_id + name_bytes);
    bytes += static_cast<double>(r.events) * fields.event;
    bytes += static_cast<double>(r.messages) * fields.message;
  }
  return bytes;
}

double trace_profile_bytes(uint64_t unique_events, double name_bytes,
                           const std::vector<TraceProfileGroup>& groups,
                           const TraceProfileFields& f) {
  double bytes =
      2 * f.section_header + static_cast<double>(unique_events) * (f.map_id + name_bytes);
  for (const TraceProfileGroup& g : groups) {
    bytes += f.section_header + f.rank * static_cast<double>(g.ranks);
    bytes += f.section_header + (name_bytes + f.map_id) * static_cast<double>(g.segments.size());
    bytes += f.section_header + (f.timestamp + f.list_id) * static_cast<double>(g.executions);
    bytes += f.section_header;
    for (const TraceProfileSegment& s : g.segments) {
      bytes += f.section_header + f.segment_header;
      bytes += static_cast<double>(s.events) * f.event;
      bytes += static_cast<double>(s.messages) * f.message;
    }
  }
  return bytes;
}

}  // namespace refrain::similarity
