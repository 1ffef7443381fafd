// Ranks that called the same functions in the same order.
//
// Only they have computation vectors that can be compared (PHANTOM, section 5.2: C(x) = C(y)).
#pragma once

#include <cstdint>
#include <vector>

#include "base/runs.h"
#include "refrain/trace.h"

namespace refrain::analysis::computation {

// Of the first thread of a rank.
struct SequenceKey {
  uint64_t calls = 0;
  uint64_t hash = 0;  // of the functions in their order
  bool operator==(const SequenceKey&) const = default;
};

struct Sequence {
  SequenceKey key;
  base::RunList ranks;  // ascending, at least one
};

// In the order of their first ranks. Costs what the grammars have of symbols, whatever the length
// of the run. Ranks of which nothing is known are in none.
std::vector<Sequence> sequences_of(const Trace& trace);

}  // namespace refrain::analysis::computation
