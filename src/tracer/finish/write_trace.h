// Writes the merged record of all ranks to the file.
#pragma once

#include "format/merge/merge.h"
#include "tracer/finish/time_handover.h"
#include "tracer/state/process.h"

namespace refrain::tracer {

// Written beside and renamed; `times` may be null. Complains on failure and gives false.
bool write_trace(Process& process, format::PartialTrace merged, TimeSource* times);

}  // namespace refrain::tracer
