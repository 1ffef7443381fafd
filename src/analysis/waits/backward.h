// The sweeps against time: what waits go back to, and the critical path.
#pragma once

#include <vector>

#include "analysis/waits/sweep.h"

namespace refrain::analysis::waits {

// Fills in delays and explained.
void find_causes(Sweep& sweep, const Options& options, WaitStates& out);

// Fills in critical_path and critical_ns.
void find_critical_path(Sweep& sweep, WaitStates& out);

}  // namespace refrain::analysis::waits
