// How long programs did something else before their calls: `refrain record --gaps`.
#pragma once

#include <cstdint>
#include <vector>

#include "refrain/trace.h"

namespace refrain::analysis {

// The gaps before the calls of one signature, over all ranks and threads: see Trace::gaps().
struct GapRow {
  SignatureId signature{};
  CallId call = 0;
  DefinitionId site = kNoDefinition;  // call path or call site, of the lowest rank that calls it
  Durations gaps;
  std::vector<uint64_t> histogram;  // 64 numbers: see Trace::gap_histogram()

  double mean_ns() const {
    return gaps.count == 0 ? 0 : gaps.sum_ns / static_cast<double>(gaps.count);
  }
};

// Signatures that were called, those with the longest gaps together first, then by number. Nothing
// when the trace has no gaps. O(size of the grammars and of the signatures).
std::vector<GapRow> gaps(const Trace& trace);

}  // namespace refrain::analysis
