// Which loops of a grammar a call stands in, and in which iteration of each.
#pragma once

#include <cstdint>
#include <vector>

#include "grammar/fold.h"
#include "grammar/grammar.h"

namespace refrain::replay::plan {

// A symbol that a grammar repeats. Positions are numbers of calls from the first one.
struct LoopPlace {
  uint64_t first = 0;      // where its first iteration begins
  uint64_t length = 1;     // calls of an iteration
  uint64_t count = 1;      // iterations
  uint64_t iteration = 0;  // the one that the call is in, from 0

  uint64_t next_begin() const { return first + (iteration + 1) * length; }
};

// Loops of at least this many iterations are told.
inline constexpr uint64_t kLoopFrom = 4;

// The loops around call number `position`, outermost first; none beyond the end. `lengths` are
// those of `grammar`. O(depth * log(symbols)).
void loops_at(const grammar::Grammar& grammar, const grammar::Lengths& lengths, uint64_t position,
              std::vector<LoopPlace>& out);

}  // namespace refrain::replay::plan
