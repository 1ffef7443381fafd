#include "replay/gap_means.h"

#include "format/trace_data.h"
#include "reader/internal.h"

namespace refrain::replay {

GapsOfMeans::GapsOfMeans(const Trace& trace, Rank rank) : trace_(trace) {
  const auto group = trace.group_of(rank);
  const auto& totals = reader::data_of(trace).totals;
  if (!group || static_cast<size_t>(rank) >= totals.size()) return;
  double sum = 0;
  for (const Trace::Occurrence& seen : trace.occurrences(*group))
    sum += mean_of(seen.signature) * static_cast<double>(seen.calls);
  const auto outside = static_cast<double>(totals[static_cast<size_t>(rank)].outside_ns);
  if (sum > 0 && outside > 0) factor_ = outside / sum;
}

double GapsOfMeans::mean_of(SignatureId id) const {
  const Durations gaps = trace_.gaps(id);
  return gaps.count == 0 ? 0 : gaps.sum_ns / static_cast<double>(gaps.count);
}

uint64_t GapsOfMeans::before(const events::StagedCall& call) {
  return static_cast<uint64_t>(mean_of(call.op->signature->id) * factor_);
}

}  // namespace refrain::replay
