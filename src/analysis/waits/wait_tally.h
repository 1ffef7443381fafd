// WaitTally: sums of the waits that a forward sweep has found so far, for whoever looks at a run
// that goes on. WaitStates (wait_states.h) has them by call path, too, and takes longer to make.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analysis/waits/pattern.h"
#include "refrain/ids.h"

namespace refrain::analysis::waits {

struct WaitTally {
  struct OfPattern {
    uint64_t ns = 0, count = 0;
  };
  struct OfRank {
    uint64_t waiting_ns = 0;
    // That others waited for it, directly: for what it sent, posted, entered or let go of too late.
    uint64_t causing_ns = 0;
  };
  // By pattern, without those that it contains.
  std::array<OfPattern, kPatterns> patterns;
  std::vector<OfRank> ranks;

  OfPattern& of(Pattern pattern) { return patterns[static_cast<size_t>(pattern)]; }
  OfRank& of(Rank rank) {
    if (static_cast<size_t>(rank) >= ranks.size()) ranks.resize(static_cast<size_t>(rank) + 1);
    return ranks[static_cast<size_t>(rank)];
  }
};

}  // namespace refrain::analysis::waits
