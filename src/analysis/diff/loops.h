// Numbers of iterations of the loops that the grammars have found.
//
// A loop is a symbol of a grammar with a repetition count. A loop of one run is identified in
// another run by the set of call paths in its body, so neither the number of iterations nor the
// division by the grammar matters. If the body changed a little, the call paths that remain
// identify it.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/diff/summary.h"

namespace refrain::analysis::diff {

// Numbers of PlacePairs, ascending; the smallest kMostPlaces of a larger body.
using Body = std::vector<uint32_t>;
inline constexpr size_t kMostPlaces = 64;

struct LoopCount {
  double entries = 0;     // how often the loop begins, over all ranks
  double iterations = 0;  // of all of these
  std::vector<uint64_t>
      counts;  // ascending: the different numbers of iterations, up to kMostCounts of them
  static constexpr size_t kMostCounts = 16;
  // Whether it goes round equally often, wherever it is entered.
  bool is_like(const LoopCount& other) const;
  double mean() const { return entries > 0 ? iterations / entries : 0; }
};
using Loops = std::map<Body, LoopCount>;

// `place_of_row`: pair_of_row(). O(symbols of the grammars).
Loops loops_of(const Trace& trace, const Summary& summary,
               const std::vector<uint32_t>& place_of_row);

struct LoopPair {
  Body body_before, body_after;  // empty: there is no such loop
  LoopCount before, after;
};
// Equal bodies, then the most alike ones.
std::vector<LoopPair> match_loops(const Loops& before, const Loops& after);

}  // namespace refrain::analysis::diff
