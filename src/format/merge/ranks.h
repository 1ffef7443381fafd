// What finish() makes of the places of ranks and of the recorder's own work.
#pragma once

#include "format/merge/merge.h"

namespace refrain::format {

// Of all ranks of the world. A rank that does not know its place has -1, as one that is missing.
void take_places(const PartialTrace& from, TraceData& to);

// Behind the totals, which have what is not among the pieces.
void take_own_work(PartialTrace& from, TraceData& to);

}  // namespace refrain::format
