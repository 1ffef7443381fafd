#include "replay/pace/gap_means.h"

#include <cmath>
#include <numeric>

#include "format/trace_data.h"
#include "grammar/fold.h"
#include "reader/internal.h"

namespace refrain::replay {
namespace {

double mean_of(const Trace& trace, SignatureId id) {
  const Durations gaps = trace.gaps(id);
  return gaps.count == 0 ? 0 : gaps.sum_ns / static_cast<double>(gaps.count);
}

// How often the thread makes calls of each signature.
std::vector<Trace::Occurrence> calls_of(const Trace& trace, Rank rank, uint32_t thread) {
  std::vector<Trace::Occurrence> out;
  const auto group = trace.group_of(rank);
  if (!group) return out;
  const format::TraceData& data = reader::data_of(trace);
  const std::vector<uint32_t>& signatures = data.groups[*group].signatures;
  for (const Location& location : trace.group_locations(*group)) {
    if (location.thread != thread) continue;
    const std::vector<uint64_t> seen =
        grammar::occurrences(data.grammars[location.grammar], signatures.size());
    for (size_t i = 0; i < seen.size(); ++i)
      if (seen[i] > 0) out.push_back({SignatureId(signatures[i]), seen[i]});
  }
  return out;
}

double sum_of_means(const Trace& trace, const std::vector<Trace::Occurrence>& calls) {
  double sum = 0;
  for (const Trace::Occurrence& seen : calls)
    sum += mean_of(trace, seen.signature) * static_cast<double>(seen.calls);
  return sum;
}

// What the rank did outside of MPI; 0: not known.
double outside_of(const Trace& trace, Rank rank) {
  const auto& totals = reader::data_of(trace).totals;
  return static_cast<size_t>(rank) < totals.size()
             ? static_cast<double>(totals[static_cast<size_t>(rank)].outside_ns)
             : 0;
}

double factor_of(const Trace& trace, Rank rank) {
  const auto group = trace.group_of(rank);
  const double sum = group ? sum_of_means(trace, trace.occurrences(*group)) : 0;
  const double outside = outside_of(trace, rank);
  return sum > 0 && outside > 0 ? outside / sum : 1;
}

// Whole nanoseconds, and what is left for the next gap.
uint64_t whole(double gap, double& left) {
  constexpr double kMost = 1e18;
  left += std::fmin(gap, kMost);
  const double out = std::floor(left + 1e-6);
  left -= out;
  return static_cast<uint64_t>(out);
}

}  // namespace

GapsOfMeans::GapsOfMeans(const Trace& trace, Rank rank, uint32_t)
    : trace_(trace), factor_(factor_of(trace, rank)) {}

uint64_t GapsOfMeans::before(const events::StagedCall& call) {
  return whole(mean_of(trace_, call.op->signature->id) * factor_, left_);
}

double GapsOfHistograms::Draws::value(uint64_t i) const {
  const double at =
      (static_cast<double>(i) + 0.5) / static_cast<double>(count) * static_cast<double>(all);
  double below = 0;
  for (size_t bin = 0; bin < histogram.size(); ++bin) {
    const auto in_bin = static_cast<double>(histogram[bin]);
    if (in_bin > 0 && at < below + in_bin)
      return std::exp2(static_cast<double>(bin) + (at - below) / in_bin);
    below += in_bin;
  }
  return 0;
}

// Of all draws: in each bin they are a geometric series.
double GapsOfHistograms::Draws::sum() const {
  const double width = static_cast<double>(all) / static_cast<double>(count);
  double out = 0, below = 0;
  uint64_t first = 0;
  for (size_t bin = 0; bin < histogram.size() && first < count; ++bin) {
    const auto in_bin = static_cast<double>(histogram[bin]);
    if (in_bin == 0) continue;
    // The first draw at the bin's end or behind it.
    const double end = std::ceil((below + in_bin) / width - 0.5);
    uint64_t last = end <= 0 ? 0 : std::min(count, static_cast<uint64_t>(end));
    if (last < first) last = first;
    const double between = width / in_bin;
    const auto n = static_cast<double>(last - first);
    const double start =
        static_cast<double>(bin) + ((static_cast<double>(first) + 0.5) * width - below) / in_bin;
    if (n > 0)
      out += std::exp2(start) * std::expm1(n * between * M_LN2) / std::expm1(between * M_LN2);
    first = last;
    below += in_bin;
  }
  return out;
}

GapsOfHistograms::GapsOfHistograms(const Trace& trace, Rank rank, uint32_t thread) {
  const std::vector<Trace::Occurrence> calls = calls_of(trace, rank, thread);
  double drawn = 0;
  for (const Trace::Occurrence& seen : calls) {
    Draws draws;
    draws.count = seen.calls;
    draws.histogram = trace.gap_histogram(seen.signature);
    draws.all = std::accumulate(draws.histogram.begin(), draws.histogram.end(), uint64_t{0});
    if (draws.all == 0) continue;
    draws.step = static_cast<uint64_t>(static_cast<double>(draws.count) * 0.618033988749895) | 1;
    while (std::gcd(draws.step, draws.count) != 1) draws.step += 2;
    drawn += draws.sum();
    draws_.emplace(seen.signature, std::move(draws));
  }
  const double wanted = sum_of_means(trace, calls) * factor_of(trace, rank);
  if (drawn > 0 && wanted > 0) factor_ = wanted / drawn;
}

uint64_t GapsOfHistograms::before(const events::StagedCall& call) {
  const auto found = draws_.find(call.op->signature->id);
  if (found == draws_.end()) return 0;
  Draws& draws = found->second;
  const uint64_t i = draws.next;
  const uint64_t step = draws.step % draws.count;
  draws.next = i < draws.count - step ? i + step : i - (draws.count - step);
  return whole(draws.value(i) * factor_, left_);
}

std::unique_ptr<GapSource> gaps_of(const Trace& trace, Rank rank, uint32_t thread, Gaps gaps) {
  if (trace.has_times()) return std::make_unique<GapsOfTimes>(trace, rank, thread);
  if (!trace.has_gaps()) return nullptr;
  if (gaps == Gaps::kHistogram) return std::make_unique<GapsOfHistograms>(trace, rank, thread);
  return std::make_unique<GapsOfMeans>(trace, rank, thread);
}

std::string_view compute_from(const Trace& trace, const Pace::Options& options) {
  if (options.compute == Compute::kNone) return "none";
  if (!trace.has_times())
    return !trace.has_gaps()                  ? "none"
           : options.gaps == Gaps::kHistogram ? "gaps_histogram"
                                              : "gaps_mean";
  const auto timing = trace.timing();
  if (!timing.ok()) return "none";
  switch (timing->kind) {
    case TimingKind::kExact: return "exact";
    case TimingKind::kBounded: return "bins";
    case TimingKind::kSegments: return "segments";
    default: return "none";
  }
}

}  // namespace refrain::replay
