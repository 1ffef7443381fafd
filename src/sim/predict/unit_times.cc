#include "sim/predict/unit_times.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "sim/predict/run_noise.h"

namespace refrain::sim {

// Tables of quality control up to 10; beyond that about as the
// logarithm, within 3 % to 100.
double expected_range(uint32_t samples) {
  constexpr double kTable[] = {0, 0, 1.128, 1.693, 2.059, 2.326, 2.534, 2.704, 2.847, 2.970, 3.078};
  if (samples < std::size(kTable)) return kTable[samples];
  return kTable[10] + 0.84 * std::log(static_cast<double>(samples) / 10);
}

namespace {

// Of the units of a rank: sums of medians, and of what is squared.
struct Sums {
  double median = 0, median_squares = 0;
  double runs = 0;      // variance of units from run to run
  double known_to = 0;  // variance of one more run of units around their medians
  double away = 0;      // ns, from the representative
  std::vector<double> totals;
};

void add(const format::vectors::Vector& vector, bool is_first, Sums& out) {
  // A run is one draw of the unit, and a median of n values is known to 1.25 standard deviations of
  // them over the root of n.
  const double range = expected_range(vector.runs);
  const double known_to = 1 + 1.25 * 1.25 / vector.runs;
  for (size_t k = 0; k < vector.median_ns.size(); ++k) {
    const double off = range == 0 ? 0 : static_cast<double>(vector.spread_ns[k]) / range;
    const auto median = static_cast<double>(vector.median_ns[k]);
    out.median += median;
    out.median_squares += median * median;
    out.runs += off * off;
    out.known_to += off * off * known_to;
  }
  // Runs of a thread belong to those of the others; nothing where they are not known.
  if (is_first) out.totals.assign(vector.totals_ns.begin(), vector.totals_ns.end());
  if (out.totals.size() != vector.totals_ns.size()) out.totals.clear();
  for (size_t i = 0; i < out.totals.size() && !is_first; ++i)
    out.totals[i] += static_cast<double>(vector.totals_ns[i]);
}

// What runs differ by as a whole, in relation: s. Units of medians m differ from run to run by
// variances c^2 of their own and by s m, so the variance of totals is more by s^2 (M^2 - sum m^2)
// than the sum of those of units, where M is the sum of all m. Ranks count as much as they compute.
class WholeRuns {
 public:
  void add(const Sums& rank) {
    const auto n = static_cast<double>(rank.totals.size());
    if (n < 2) return;
    double mean = 0, squares = 0;
    for (const double one : rank.totals) mean += one / n;
    for (const double one : rank.totals) squares += (one - mean) * (one - mean);
    squares_ += squares - (n - 1) * rank.runs;
    wholes_ += (n - 1) * (rank.median * rank.median - rank.median_squares);
    freedom_ += n - 1;
    most_runs_ = std::max(most_runs_, n);
  }
  double variance() const { return squares_ > 0 && wholes_ > 0 ? squares_ / wholes_ : 0; }
  // Of one more run: the mean of n is not known better than by n.
  UnitTimes::RunDeviation deviation() const {
    if (variance() == 0) return {};
    return {std::sqrt(variance() * (1 + 1 / most_runs_)), freedom_};
  }

 private:
  double squares_ = 0, wholes_ = 0, freedom_ = 0, most_runs_ = 1;
};

}  // namespace

base::Result<UnitTimes> UnitTimes::make(const Trace& trace, format::vectors::VectorFile file,
                                        const std::string& name, const Plan& plan) {
  if (file.ranks != static_cast<uint64_t>(trace.rank_count()))
    return base::fail("the vectors are of a run of " + std::to_string(file.ranks) + " ranks, and " +
                          trace.name() + " has " + std::to_string(trace.rank_count()),
                      name);
  UnitTimes out;
  out.file_ = std::move(file);
  std::map<std::pair<uint32_t, uint32_t>, size_t> known;
  for (size_t i = 0; i < out.file_.vectors.size(); ++i)
    known[{out.file_.vectors[i].rank, out.file_.vectors[i].thread}] = i;
  WholeRuns whole;
  std::vector<Sums> sums;
  for (Rank rank = 0; rank < trace.rank_count(); ++rank) {
    const Rank lead = plan.representative[static_cast<size_t>(rank)];
    Sums& of_rank = sums.emplace_back();
    bool is_first = true;
    for (const Location& location : trace.locations(rank)) {
      const auto found = known.find({static_cast<uint32_t>(lead), location.thread});
      if (found == known.end())
        return base::fail("no vector of rank " + std::to_string(lead) +
                              (lead == rank ? ": --plan names ranks that stand for others"
                                            : ", which stands for rank " + std::to_string(rank)),
                          name);
      const format::vectors::Vector& vector = out.file_.vectors[found->second];
      if (vector.median_ns.size() + 1 != location.calls)
        return base::fail("the vector of rank " + std::to_string(lead) + " has " +
                              std::to_string(vector.median_ns.size()) + " units, and rank " +
                              std::to_string(rank) + " has " + std::to_string(location.calls) +
                              " calls: they are not of one run",
                          name);
      out.vectors_[{rank, location.thread}] = found->second;
      add(vector, is_first, of_rank);
      is_first = false;
    }
    // A member is up to the radius away; that is taken for two standard deviations.
    of_rank.away = lead == rank ? 0 : plan.radius_ns[static_cast<size_t>(rank)] / 2;
    if (lead == rank) whole.add(of_rank);
  }
  out.run_deviation_ = whole.deviation();
  for (const Sums& rank : sums) {
    const double own =
        rank.runs > 0 ? 1 - std::min(1.0, whole.variance() * rank.median_squares / rank.runs) : 1;
    const double variance = own * rank.known_to + rank.away * rank.away;
    out.own_shares_.push_back(std::sqrt(own));
    out.deviations_.push_back(rank.median > 0 ? std::sqrt(variance) / rank.median : 0);
  }
  return out;
}

// That has a unit before call `seq`.
const format::vectors::Vector* UnitTimes::vector_of(Rank rank, uint32_t thread,
                                                    uint64_t seq) const {
  const auto found = vectors_.find({rank, thread});
  if (found == vectors_.end() || seq == 0) return nullptr;
  const format::vectors::Vector& out = file_.vectors[found->second];
  return seq <= out.median_ns.size() ? &out : nullptr;
}

uint64_t UnitTimes::before(Rank rank, uint32_t thread, uint64_t seq, uint64_t) const {
  const auto* const vector = vector_of(rank, thread, seq);
  return vector == nullptr ? 0 : vector->median_ns[seq - 1];
}

uint64_t UnitTimes::drawn(Rank rank, uint32_t thread, uint64_t seq, uint64_t seed) const {
  const auto* const vector = vector_of(rank, thread, seq);
  if (vector == nullptr) return 0;
  const size_t k = seq - 1;
  uint64_t place = 0;
  if (vector->spread_ns[k] > 0)
    place = scrambled(seed ^ scrambled(static_cast<uint64_t>(rank) << 20 ^ thread) ^ seq) %
            std::max<uint32_t>(1, vector->runs);
  // Without the part of it that runs differ by as a whole.
  const double own = own_shares_[static_cast<size_t>(rank)];
  const auto median = static_cast<double>(vector->median_ns[k]);
  const auto moved = [&](uint64_t to) {
    return static_cast<uint64_t>(std::llround(median + own * (static_cast<double>(to) - median)));
  };
  if (place == 0 && vector->runs > 1) return moved(vector->least_ns[k]);
  return place == 1 ? moved(vector->least_ns[k] + vector->spread_ns[k]) : vector->median_ns[k];
}

}  // namespace refrain::sim
