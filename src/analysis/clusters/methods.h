// Ways to find clusters other than ACURDION's, to compare with: what came before it, and what it is
// measured by.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "refrain/trace.h"
#include "similarity/ranks/k_farthest.h"

namespace refrain::analysis::clusters {

using Clusters = std::vector<similarity::RankCluster>;  // in the order of their leads

// All calls with all their parameters (ACURDION, section III D): ranks are as far from each other
// as they have calls that differ. Ranks of other structure are farthest of all; with
// `options.mixes_structures` they may be one cluster all the same. Takes K times the ranks
// comparisons, each of as many signatures as the rank has.
Result<Clusters> reference_clusters(const Trace& trace,
                                    const std::vector<similarity::RankHead>& heads,
                                    const similarity::ClusterOptions& options);

// Call path, and a second signature of 64 bits with 16 each for COUNT, SRC, DEST and TAG, what
// does not fit cut off: K-farthest in two steps (the authors' clustering before ACURDION).
Clusters two_signature_clusters(const std::vector<similarity::RankHead>& heads,
                                const similarity::ClusterOptions& options,
                                similarity::RankMetric metric, similarity::Assignment assignment);

// The two clusters that are nearest, by their members that are farthest from each other, become
// one, until K are left. The lead is the member that is nearest to all. Compares all pairs: fails,
// with kUnsupported, for more than kMostUnlike ranks without an equal.
inline constexpr size_t kMostUnlike = 1024;
Result<Clusters> hierarchical_clusters(const std::vector<similarity::RankHead>& heads,
                                       const similarity::ClusterOptions& options,
                                       const similarity::RankDistances& distances);

// Every rank stands for itself.
Clusters no_clusters(const std::vector<similarity::RankHead>& heads);

}  // namespace refrain::analysis::clusters
