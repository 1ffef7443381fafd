// Hierarchical clustering by complete linkage (PHANTOM, section 5.3, algorithm 1).
//
// The distance of two clusters is that of their farthest members. Time O(n^2) by chains of nearest
// neighbours, instead of algorithm 1's O(n^3); both give the same tree where no distances are
// equal.
#pragma once

#include <cstdint>
#include <vector>

#include "similarity/vectors/distance_matrix.h"

namespace refrain::similarity {

struct Dendrogram {
  // Two clusters become one. Clusters below `leaves` are single things; n + i is the one that
  // merges[i] made. `left` is the smaller number.
  struct Merge {
    uint32_t left = 0, right = 0;
    double height = 0;  // distance of the two
    uint32_t size = 0;  // things in both
    bool operator==(const Merge&) const = default;
  };
  uint32_t leaves = 0;
  std::vector<Merge> merges;  // leaves - 1, heights ascending
};

// Destroys the matrix.
Dendrogram complete_linkage(PairMatrix distances);

// Clusters of each thing: 0 for that of thing 0, 1 for that of the first that is in none before,
// and so on.
using Labels = std::vector<uint32_t>;
// Merges up to and with `height`.
Labels cut_at(const Dendrogram& tree, double height);
// So that `clusters` are left, or as many as there are things.
Labels cut_into(const Dendrogram& tree, uint32_t clusters);

// Numbers of clusters as above, whatever they were.
void renumber(Labels& labels);
uint32_t label_count(const Labels& labels);

}  // namespace refrain::similarity
