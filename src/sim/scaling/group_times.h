// What ranks compute between their calls, on another number of ranks: from three runs.
#pragma once

#include <array>

#include "base/result.h"
#include "format/trace_data.h"
#include "refrain/trace.h"
#include "sim/scaling/follow.h"

namespace refrain::sim {

// Adds gaps, or else totals, to a trace whose signatures and groups are those of three others. With
// times of calls, all calls are read once.
base::Status add_times(const std::array<const Trace*, 3>& from, const Sizes& sizes,
                       format::TraceData& to);

}  // namespace refrain::sim
