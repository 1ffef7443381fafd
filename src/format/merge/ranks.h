// The part of finish() that does not concern groups: the ranks, their totals, hosts, places and
// losses.
#pragma once

#include "format/merge/merge.h"

namespace refrain::format {

// The groups and their signatures are there by then. Ranks of the world that are in none are a
// loss.
void take_rest(PartialTrace& from, TraceData& to);

// Gaps are those of all ranks, or nobody's, which is a loss: `lacks_gaps` says which.
void check_gaps(PartialTrace& all);

}  // namespace refrain::format
