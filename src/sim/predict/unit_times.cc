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
  for (Rank rank = 0; rank < trace.rank_count(); ++rank) {
    const Rank lead = plan.representative[static_cast<size_t>(rank)];
    double sum = 0, variance = 0;
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
      // A run is one draw of the unit, and a median of n values is known to 1.25 standard
      // deviations of them over the root of n.
      const double range = expected_range(vector.runs);
      const double known_to = range == 0 ? 0 : std::sqrt(1 + 1.25 * 1.25 / vector.runs) / range;
      for (size_t k = 0; k < vector.median_ns.size(); ++k) {
        const double off = static_cast<double>(vector.spread_ns[k]) * known_to;
        sum += static_cast<double>(vector.median_ns[k]);
        variance += off * off;
      }
    }
    // A member is up to the radius away; that is taken for two standard deviations.
    const double away = lead == rank ? 0 : plan.radius_ns[static_cast<size_t>(rank)] / 2;
    out.deviations_.push_back(sum > 0 ? std::sqrt(variance + away * away) / sum : 0);
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
  if (place == 0 && vector->runs > 1) return vector->least_ns[k];
  return place == 1 ? vector->least_ns[k] + vector->spread_ns[k] : vector->median_ns[k];
}

}  // namespace refrain::sim
