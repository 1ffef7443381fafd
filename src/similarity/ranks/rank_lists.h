// Sets of ranks as ScalaTrace writes them (ACURDION, section II): number of dimensions, first rank,
// and for each dimension how many and how far apart: <2 0 4 4 2 1> is 0 1 4 5 8 9 12 13.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/nested_runs.h"

namespace refrain::similarity {

struct RankList {
  struct Dimension {
    uint64_t count;
    int64_t stride;
  };
  int64_t first = 0;
  std::vector<Dimension> dimensions;  // the outermost first; none for a single rank

  std::string to_string() const;
};

// As few lists as there are runs and loops in `ranks`.
std::vector<RankList> rank_lists(const base::NestedRuns& ranks);

}  // namespace refrain::similarity
