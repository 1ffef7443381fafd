// Gaps of traces that have statistics of them only (`refrain record --gaps`).
//
// Each call waits for the mean gap of its signature. Means are over all ranks, so they are scaled
// to what this rank did outside of MPI in all, where its totals say that.
#pragma once

#include <cstdint>

#include "refrain/trace.h"
#include "replay/pace.h"

namespace refrain::replay {

class GapsOfMeans : public GapSource {
 public:
  // `trace` outlives it, and has gaps.
  GapsOfMeans(const Trace& trace, Rank rank);
  uint64_t before(const events::StagedCall& call) override;

 private:
  double mean_of(SignatureId id) const;

  const Trace& trace_;
  double factor_ = 1;
};

}  // namespace refrain::replay
