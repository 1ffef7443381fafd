#include "sim/predict/recorded_spread.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>

#include "reader/call_gaps.h"
#include "refrain/calls.h"

namespace refrain::sim {
namespace {

// Units of one kind.
struct Kind {
  uint64_t units = 0;
  double last = 0, squares = 0;
};

struct Sum {
  double all = 0, variance = 0;
};

void add_thread(RankReader& reader, uint32_t thread, Sum& sum) {
  std::unordered_map<uint64_t, Kind> kinds;
  reader::CallGaps gaps(reader.trace(), reader.rank(), thread);
  uint64_t before = 0;
  const auto done = reader.for_each_call(thread, [&](const Call& call) {
    const auto id = static_cast<uint64_t>(static_cast<uint32_t>(call.signature->id));
    if (const uint64_t gap = gaps.before(call).value_or(0); gap > 0) {
      Kind& kind = kinds[before << 32 | id];
      const auto unit = static_cast<double>(gap);
      sum.all += unit;
      if (kind.units++ > 0) kind.squares += (unit - kind.last) * (unit - kind.last);
      kind.last = unit;
    }
    before = id;
    return true;
  });
  if (!done.ok()) return;  // the simulation says so
  for (const auto& [key, kind] : kinds)
    if (kind.units > 1)
      sum.variance +=
          kind.squares / 2 / static_cast<double>(kind.units - 1) * static_cast<double>(kind.units);
}

}  // namespace

RecordedSpread spread_of(const std::vector<double>& sums, const std::vector<double>& variances,
                         const std::vector<std::vector<Rank>>& groups) {
  RecordedSpread out;
  out.centre.assign(sums.size(), 1);
  out.deviation.assign(sums.size(), 0);
  for (size_t i = 0; i < sums.size(); ++i)
    if (sums[i] > 0) out.deviation[i] = std::sqrt(2 * variances[i]) / sums[i];
  for (const std::vector<Rank>& group : groups) {
    if (group.size() < 4) continue;  // too few to tell chance from what ranks differ by
    const auto n = static_cast<double>(group.size());
    double mean = 0, chance = 0, between = 0;
    for (const Rank rank : group) {
      mean += sums[static_cast<size_t>(rank)] / n;
      chance += variances[static_cast<size_t>(rank)] / n;
    }
    for (const Rank rank : group)
      between += std::pow(sums[static_cast<size_t>(rank)] - mean, 2) / (n - 3);
    const double own = between > 0 ? std::max(0.0, 1 - chance / between) : 0;
    for (const Rank rank : group) {
      const double sum = sums[static_cast<size_t>(rank)];
      if (sum <= 0) continue;
      out.centre[static_cast<size_t>(rank)] = (mean + own * (sum - mean)) / sum;
      out.deviation[static_cast<size_t>(rank)] *= std::sqrt((1 + own) / 2);
    }
  }
  return out;
}

RecordedSpread recorded_spread(const Trace& trace) {
  const auto ranks = static_cast<size_t>(trace.rank_count());
  std::vector<double> sums(ranks), variances(ranks);
  std::map<uint64_t, std::vector<Rank>> groups;
  for (Rank rank = 0; trace.has_times() && rank < trace.rank_count(); ++rank) {
    RankReader reader(trace, rank, Times::kRead);
    Sum sum;
    for (const Location& location : trace.locations(rank)) add_thread(reader, location.thread, sum);
    sums[static_cast<size_t>(rank)] = sum.all;
    variances[static_cast<size_t>(rank)] = sum.variance;
    if (const auto group = trace.group_of(rank); group) groups[*group].push_back(rank);
  }
  std::vector<std::vector<Rank>> lists;
  for (auto& [group, list] : groups) lists.push_back(std::move(list));
  return spread_of(sums, variances, lists);
}

}  // namespace refrain::sim
