// Matches the call paths of one run with those of another run.
//
// Call paths of both runs become trees of call sites, and the trees are aligned from the outside
// in. In the same build of a module (equal build id) call sites are compared by address. In another
// build the addresses differ: the sites of one function are then aligned in order, like the lines
// of two versions of a text (S. Needleman and C. Wunsch, 1970), by the calls and parameters below
// them, and by function and line if there is debug information. So a baseline remains usable after
// the program has been changed and rebuilt.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/diff/summary.h"
#include "reader/symbols.h"

namespace refrain::analysis::diff {

// A call row of both runs, or of one only (kNone in the other).
struct PlacePair {
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t before = kNone, after = kNone;  // indices of Summary::rows
};

// Every row of both is in exactly one pair. Rows of the second run come in its order, each that has
// vanished at the end.
std::vector<PlacePair> align(const Trace& before, const Summary& a, const Trace& after,
                             const Summary& b, reader::Symbols& symbols);

// Of a pair's number by row: the inverse of `pairs` for one side. SIZE: rows of the summary.
std::vector<uint32_t> pair_of_row(const std::vector<PlacePair>& pairs, size_t rows, bool is_before);

}  // namespace refrain::analysis::diff
