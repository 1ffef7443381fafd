#include "sim/scaling/group_times.h"

#include <cmath>
#include <vector>

#include "reader/call_gaps.h"
#include "reader/internal.h"
#include "refrain/calls.h"

namespace refrain::sim {
namespace {

struct Mean {
  double sum = 0, count = 0;
  double value() const { return count > 0 ? sum / count : 0; }
};

// Before the calls of each signature; empty: the trace does not tell.
base::Result<std::vector<Mean>> gaps_of(const Trace& trace) {
  std::vector<Mean> out;
  if (!trace.has_gaps() && !trace.has_times()) return out;
  out.resize(trace.signature_count());
  if (!trace.has_times()) {
    for (SignatureId id = 0; id < trace.signature_count(); ++id) {
      const Durations gaps = trace.gaps(id);
      out[id] = {gaps.sum_ns, static_cast<double>(gaps.count)};
    }
    return out;
  }
  for (Rank rank = 0; rank < trace.rank_count(); ++rank) {
    RankReader reader(trace, rank, Times::kRead);
    for (const Location& location : trace.locations(rank)) {
      auto cursor = reader.cursor(location.thread);
      if (!cursor.ok()) return cursor.error();
      reader::CallGaps gaps(trace, rank, location.thread);
      while (const Call* const call = cursor->next()) {
        Mean& mean = out[call->signature->id];
        mean.count += 1;
        mean.sum += static_cast<double>(gaps.before(*call).value_or(0));
      }
    }
  }
  return out;
}

void add_gaps(const Sizes& sizes, const std::array<std::vector<Mean>, 3>& from,
              format::TraceData& to) {
  for (size_t i = 0; i < to.signatures.size(); ++i) {
    const double ns =
        follow_time(sizes, {from[0][i].value(), from[1][i].value(), from[2][i].value()});
    format::DurationStats gap;
    gap.count = 1;
    gap.sum_ns = ns;
    gap.min_ns = gap.max_ns = static_cast<uint64_t>(std::llround(ns));
    to.gaps.push_back(gap);
  }
}

// Of a rank of the group.
double outside_ns(const format::TraceData& data, size_t group) {
  Mean mean;
  const base::RunList& ranks = data.groups[group].ranks;
  for (uint64_t i = 0; i < ranks.size(); ++i) {
    const auto rank = static_cast<size_t>(ranks.at(i));
    if (rank >= data.totals.size()) continue;
    mean.sum += static_cast<double>(data.totals[rank].outside_ns);
    mean.count += 1;
  }
  return mean.value();
}

}  // namespace

base::Status add_times(const std::array<const Trace*, 3>& from, const Sizes& sizes,
                       format::TraceData& to) {
  std::array<std::vector<Mean>, 3> gaps;
  for (size_t run = 0; run < 3; ++run) {
    auto found = gaps_of(*from[run]);
    if (!found.ok()) return found.error();
    gaps[run] = std::move(*found);
  }
  if (!gaps[0].empty() && !gaps[1].empty() && !gaps[2].empty()) {
    add_gaps(sizes, gaps, to);
    return base::Done{};
  }
  to.totals.resize(sizes.wanted);
  for (size_t group = 0; group < to.groups.size(); ++group) {
    const double ns = follow_time(sizes, {outside_ns(reader::data_of(*from[0]), group),
                                          outside_ns(reader::data_of(*from[1]), group),
                                          outside_ns(reader::data_of(*from[2]), group)});
    const base::RunList& ranks = to.groups[group].ranks;
    for (uint64_t i = 0; i < ranks.size(); ++i)
      if (const auto rank = static_cast<size_t>(ranks.at(i)); rank < to.totals.size())
        to.totals[rank].outside_ns = static_cast<uint64_t>(std::llround(ns));
  }
  return base::Done{};
}

}  // namespace refrain::sim
