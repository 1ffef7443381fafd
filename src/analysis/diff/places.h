// Which call path of one run is which of another run.
//
// Call paths of both runs become trees of call sites, and the trees are aligned from the outside
// in. In the same build of a module (equal build id) a place is an address. In another build
// addresses have moved: then the sites in one function are aligned in their order, as lines of two
// versions of a text are (S. Needleman and C. Wunsch, 1970), by what is called below them with
// which parameters, and by function and line where debug information tells them. So a baseline that
// was recorded before the program was changed and built anew still finds its places.
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
