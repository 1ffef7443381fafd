#include "format/trace_data.h"

#include <algorithm>
#include <utility>

namespace refrain::format {

namespace {

// Among equals the lowest rank counts: the first one.
void add(Spread& s, bool is_first, uint64_t rank, uint64_t value) {
  if (is_first || value < s.least) s.least = value, s.least_rank = rank;
  if (is_first || value > s.greatest) s.greatest = value, s.greatest_rank = rank;
  s.sum += static_cast<double>(value);
}

}  // namespace

void RecorderCost::add(uint64_t rank, const OwnCost& cost) {
  const bool is_first = ranks++ == 0;
  format::add(memory_bytes, is_first, rank, cost.memory_bytes);
  format::add(time_ns, is_first, rank, cost.time_ns);
}

RecorderCost cost_of(const std::vector<RankTotals>& totals) {
  RecorderCost out;
  for (uint64_t rank = 0; rank < totals.size(); ++rank)
    if (totals[rank].cost.memory_bytes > 0) out.add(rank, totals[rank].cost);
  return out;
}

const OwnWork* find_own_work(const TraceData& trace, uint64_t rank, uint32_t thread) {
  const auto at = std::lower_bound(
      trace.own_work.begin(), trace.own_work.end(), std::pair(rank, thread),
      [](const OwnWork& w, const auto& key) { return std::pair(w.rank, w.thread) < key; });
  return at != trace.own_work.end() && at->rank == rank && at->thread == thread ? &*at : nullptr;
}

}  // namespace refrain::format
