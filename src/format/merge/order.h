// Brings definitions and signatures into the order of the file, in which the members of a family
// stand together.
#pragma once

#include <cstdint>
#include <vector>

#include "format/trace_data.h"

namespace refrain::format {

// Brings the members of families together (file_forms.h) and renumbers all that refers to them.
void order_families(TraceData& trace);

// order: the old numbers of all signatures in the new order, which must keep what a signature
// refers to before it. Requests, durations and groups follow.
void apply_order(TraceData& trace, const std::vector<uint32_t>& order);

}  // namespace refrain::format
