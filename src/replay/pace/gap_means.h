// Gaps of traces that have statistics of them only (`refrain record --gaps`).
//
// Each call waits for the mean gap of its signature, as in ACURDION (section III, computation time
// of an event), or for one that its signature's histogram has. Statistics are over all ranks, so
// they are scaled to what this rank did outside of MPI in all, where its totals say that: the gaps
// of all calls of a rank sum up to it, to the nanosecond.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "refrain/trace.h"
#include "replay/pace/pace.h"

namespace refrain::replay {

// Of one thread of a rank. The trace outlives it, and has gaps.
class GapsOfMeans : public GapSource {
 public:
  GapsOfMeans(const Trace& trace, Rank rank, uint32_t thread);
  uint64_t before(const events::StagedCall& call) override;

 private:
  const Trace& trace_;
  double factor_ = 1;
  double left_ = 0;  // below a nanosecond, of the gaps until now
};

// The gaps of n calls of a signature are the histogram's values at (i + 0.5) / n of its calls,
// i = 0 ... n - 1, in an order that mixes short and long ones. Between the ends of a bin values
// rise by equal factors.
class GapsOfHistograms : public GapSource {
 public:
  GapsOfHistograms(const Trace& trace, Rank rank, uint32_t thread);
  uint64_t before(const events::StagedCall& call) override;

 private:
  struct Draws {
    uint64_t count = 0, next = 0, step = 1;
    std::vector<uint64_t> histogram;
    uint64_t all = 0;  // of the histogram
    double value(uint64_t i) const;
    double sum() const;
  };
  std::unordered_map<SignatureId, Draws> draws_;
  double factor_ = 1, left_ = 0;
};

// What a trace has of the time between calls: nullptr for a trace without any.
std::unique_ptr<GapSource> gaps_of(const Trace& trace, Rank rank, uint32_t thread, Gaps gaps);
// Its name: "exact", "bins", "segments", "gaps_mean", "gaps_histogram", "none".
std::string_view compute_from(const Trace& trace, const Pace::Options& options);

}  // namespace refrain::replay
