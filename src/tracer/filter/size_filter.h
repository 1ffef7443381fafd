// The filter by size (REFRAIN_MIN_BYTES, REFRAIN_MAX_BYTES). What a call says to it:
// message_size.h.
#pragma once

#include "mpi/size_bounds.h"
#include "tracer/filter/held_calls.h"

namespace refrain::tracer {

struct SizeFilter {
  mpi::SizeBounds bounds;
  HeldCalls held;
};

}  // namespace refrain::tracer
