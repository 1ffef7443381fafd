// Which member of a cluster stands for it, and how far the others are from it.
#pragma once

#include <cstdint>
#include <vector>

#include "similarity/vectors/linkage.h"
#include "similarity/vectors/vector_source.h"

namespace refrain::similarity {

struct Representative {
  uint32_t vector = 0;     // nearest to the mean of its cluster; of equals the first
  uint32_t members = 0;    // it among them
  double radius_ns = 0;    // largest Manhattan distance of a member to it
  double distance_ns = 0;  // sum of the members' Manhattan distances to it
};

// One for each label. Walks the vectors twice, a tile at a time; memory O(vectors) and a tile.
base::Result<std::vector<Representative>> representatives(VectorSource& source,
                                                          const Labels& labels);

}  // namespace refrain::similarity
