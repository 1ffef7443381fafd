#include "analysis/clusters/dendrogram.h"

#include <algorithm>

#include "analysis/clusters/rank_heads.h"

namespace refrain::analysis::clusters {

namespace {

using similarity::RankDistance;

double height_of(const RankDistance& d) {
  // What a group of distances can be at most: so many features of 32 bits each.
  constexpr double kFeatures[] = {2, 6, 3}, kWhole = 4294967296.0;
  for (size_t g = 0; g < d.groups.size(); ++g)
    if (d.groups[g] > 0)
      return static_cast<double>(2 - g) +
             std::min(static_cast<double>(d.groups[g]) / (kFeatures[g] * kWhole), 1.0);
  return 0;
}

}  // namespace

Result<std::vector<Join>> dendrogram(const Trace& trace) {
  std::vector<Join> out;
  const auto clustering = trace.clustering();
  if (!clustering || clustering->list.size() > kMostJoined) return out;
  const auto heads = rank_heads(trace);
  if (!heads.ok()) return heads.error();
  std::vector<similarity::RankSignature> leads;
  for (const Cluster& c : clustering->list)
    leads.push_back(heads->heads[static_cast<size_t>(c.lead)].signature);
  const similarity::RankDistances distances(similarity::rank_format(leads),
                                            similarity::RankMetric::kManhattan);
  const size_t n = leads.size();
  std::vector<RankDistance> apart(n * n);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) apart[i * n + j] = distances.between(leads[i], leads[j]);
  std::vector<uint32_t> branch(n);  // what stands at this place by now
  for (uint32_t i = 0; i < n; ++i) branch[i] = i;
  constexpr uint32_t kGone = UINT32_MAX;
  for (uint32_t joins = 0; joins + 1 < n; ++joins) {
    size_t a = n, b = n;
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = i + 1; j < n; ++j) {
        if (branch[i] == kGone || branch[j] == kGone) continue;
        if (a == n || apart[i * n + j] < apart[a * n + b]) a = i, b = j;
      }
    }
    out.push_back({branch[a], branch[b], height_of(apart[a * n + b])});
    branch[a] = static_cast<uint32_t>(n) + joins;
    branch[b] = kGone;
    for (size_t j = 0; j < n; ++j)
      apart[a * n + j] = apart[j * n + a] = std::max(apart[a * n + j], apart[b * n + j]);
  }
  return out;
}

}  // namespace refrain::analysis::clusters
