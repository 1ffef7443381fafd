// How like each other the leads of a clustered trace are: which of them would become one next.
#pragma once

#include <cstdint>
#include <vector>

#include "refrain/trace.h"

namespace refrain::analysis::clusters {

// Two branches that are joined: numbers below the leads' count are leads, in the order of their
// clusters, others are joins before this one, plus that count.
struct Join {
  uint32_t left = 0, right = 0;
  // 0 to 3, the distance of the two that are farthest from each other: below 1 they differ in sizes
  // and times, from 1 on in partners, tags and loops, from 2 on in calls.
  double height = 0;
};

// As many as there are leads, less one, in the order of their heights. Empty for a trace without
// clusters, and for one with more than kMostJoined leads.
inline constexpr size_t kMostJoined = 256;
Result<std::vector<Join>> dendrogram(const Trace& trace);

}  // namespace refrain::analysis::clusters
