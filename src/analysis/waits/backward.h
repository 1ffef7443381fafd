// The backward sweeps: causes of waits, and the critical path.
#pragma once

#include <vector>

#include "analysis/waits/paths.h"
#include "analysis/waits/sweep.h"

namespace refrain::analysis::waits {

// Costs of a stretch on a rank, of all patterns.
struct StretchCost {
  Rank rank = 0;
  Stretch stretch;
  double short_term_ns = 0, long_term_ns = 0;
  double ns() const { return short_term_ns + long_term_ns; }
};

// Fills in culprits, from what each stretch costs, sorted by stretch.
void find_culprits(Sweep& sweep, const std::vector<StretchCost>& costs, WaitStates& out);

void put_stretch(const Sweep& sweep, Rank rank, const Stretch& stretch, Delay& out);

// Fills in delays, causes, culprits and explained.
void find_causes(Sweep& sweep, const Options& options, WaitStates& out);

// Fills in critical_path and critical_ns.
void find_critical_path(Sweep& sweep, WaitStates& out);

}  // namespace refrain::analysis::waits
