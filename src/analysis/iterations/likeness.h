// Which loops of two locations are one loop of the run.
#pragma once

#include <cstdint>

#include "analysis/iterations/cutter.h"

namespace refrain::analysis::iterations {

// The part of the calls of two loops that both make; 0 where they are two loops: a third of their
// calls are not equal, or an iteration of one is no iteration of the other. It is one where they
// have about as many, or where a call that both make comes about as often in each. `iterations`: of
// the first loop, the most that a location has.
double likeness(const LocalLoop& a, uint64_t iterations, const LocalLoop& b);

}  // namespace refrain::analysis::iterations
