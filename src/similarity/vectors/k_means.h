// K-means over vectors of which only distances are known.
//
// The squared distance of x to the mean of a cluster C is the mean of its squared distances to C's
// members, less half the mean of the squared distances within C. So centres never have to be
// formed, and a round costs O(n^2) whatever the vectors' length.
#pragma once

#include <cstdint>

#include "similarity/vectors/distance_matrix.h"
#include "similarity/vectors/linkage.h"

namespace refrain::similarity {

struct KMeans {
  uint32_t clusters = 1;
  uint64_t seed = 1;
  uint32_t starts = 10;  // by k-means++; the best one is taken
  uint32_t rounds = 100;
};

// `squared`: kSquaredEuclidean. Numbered as cut_at() does. Fewer clusters than asked for where
// there are fewer different vectors. The same seed gives the same result on every machine.
Labels k_means(const PairMatrix& squared, const KMeans& how);

}  // namespace refrain::similarity
