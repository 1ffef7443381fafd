// Writes the merged record of all ranks to the file.
#pragma once

#include <optional>

#include "format/merge/merge.h"
#include "tracer/finish/time_handover.h"
#include "tracer/state/process.h"

namespace refrain::tracer {

struct RankClusters;

// The trace of all ranks; nothing where there cannot be one, and it has been said why.
std::optional<format::TraceData> finish_trace(Process& process, format::PartialTrace merged);

// Written beside and renamed; `times` and `clusters` may be null. With clusters only leads, and
// ranks that were sampled, are asked for their times. Complains on failure and gives false.
bool write_trace(Process& process, format::TraceData trace, TimeSource* times,
                 const RankClusters* clusters);

}  // namespace refrain::tracer
