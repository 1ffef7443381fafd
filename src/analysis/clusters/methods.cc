#include "analysis/clusters/methods.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "analysis/clusters/reference.h"

namespace refrain::analysis::clusters {

namespace {

using similarity::ClusterOptions;
using similarity::RankCluster;
using similarity::RankDistance;
using similarity::RankHead;
using similarity::RankSignature;

constexpr RankDistance kFar{{UINT64_MAX, UINT64_MAX, UINT64_MAX}};

size_t structures_of(const std::vector<RankHead>& heads) {
  std::set<uint64_t> all;
  for (const RankHead& h : heads) all.insert(h.structure);
  return all.size();
}

// From the first on whoever is farthest from those chosen, and each to the nearest: one pass over
// the ranks for each lead.
Clusters farthest_first(const std::vector<RankHead>& heads, const ClusterOptions& options,
                        const std::function<RankDistance(size_t, size_t)>& apart) {
  const size_t n = heads.size();
  const size_t k =
      options.mixes_structures ? options.k : std::max<size_t>(options.k, structures_of(heads));
  std::vector<RankDistance> nearest(n, kFar);
  std::vector<size_t> lead_of(n, 0), leads;
  for (size_t next = 0; n > 0 && leads.size() < k;) {
    leads.push_back(next);
    for (size_t i = 0; i < n; ++i) {
      const RankDistance d = i == next ? RankDistance{} : apart(next, i);
      if (d < nearest[i] || i == next) nearest[i] = d, lead_of[i] = next;
    }
    next = static_cast<size_t>(std::max_element(nearest.begin(), nearest.end()) - nearest.begin());
    if (nearest[next] == RankDistance{}) break;
  }
  std::map<size_t, RankCluster> by_lead;
  for (size_t i = 0; i < n; ++i) {
    RankCluster& c = by_lead[lead_of[i]];
    c.lead = heads[lead_of[i]].rank;
    c.members.push_back(heads[i].rank);
    c.radius = std::max(c.radius, nearest[i]);
  }
  Clusters out;
  for (auto& [lead, cluster] : by_lead) out.push_back(std::move(cluster));
  return out;
}

RankSignature truncated(const RankSignature& s) {
  using similarity::RankFeature;
  RankSignature out;
  out.call_path = s.call_path;
  for (const RankFeature f :
       {RankFeature::kCount, RankFeature::kSource, RankFeature::kDestination, RankFeature::kTag}) {
    const size_t m = similarity::mean_of(f);
    out.means[m] = static_cast<uint16_t>(s.means[m]);
  }
  return out;
}

// Ranks that are equal, of one structure: all that clusters are made of.
struct Point {
  const RankHead* head;
  std::vector<uint32_t> ranks;
};

std::vector<Point> points_of(const std::vector<RankHead>& heads, const ClusterOptions& options,
                             const similarity::RankDistances& distances, size_t most) {
  std::vector<Point> out;
  for (const RankHead& h : heads) {
    const auto same = std::find_if(out.begin(), out.end(), [&](const Point& p) {
      return (options.mixes_structures || p.head->structure == h.structure) &&
             distances.between(p.head->signature, h.signature) == RankDistance{};
    });
    if (same != out.end())
      same->ranks.push_back(h.rank);
    else
      out.push_back({&h, {h.rank}});
    if (out.size() > most) break;
  }
  return out;
}

// Unites the nearest two until `k` are left, or none may be united. Distances are those of the
// farthest members.
class Uniter {
 public:
  Uniter(const std::vector<Point>& points, const ClusterOptions& options,
         const similarity::RankDistances& distances)
      : n_(points.size()), apart_(n_ * n_, kFar), parts_(n_) {
    for (size_t i = 0; i < n_; ++i) {
      parts_[i] = {i};
      for (size_t j = 0; j < i; ++j) {
        if (!options.mixes_structures && points[i].head->structure != points[j].head->structure)
          continue;
        at(i, j) = at(j, i) =
            distances.between(points[i].head->signature, points[j].head->signature);
      }
    }
    pairs_ = apart_;
  }

  // Of each cluster the points.
  std::vector<std::vector<size_t>> run(size_t k) {
    std::vector<size_t> nearest(n_, 0);
    const auto find_nearest = [&](size_t i) {
      size_t best = i;
      for (size_t j = 0; j < n_; ++j)
        if (j != i && !parts_[j].empty() && (best == i || at(i, j) < at(i, best))) best = j;
      nearest[i] = best;
    };
    for (size_t i = 0; i < n_; ++i) find_nearest(i);
    for (size_t left = n_; left > k; --left) {
      size_t a = n_;
      for (size_t i = 0; i < n_; ++i) {
        if (parts_[i].empty() || nearest[i] == i) continue;
        if (a == n_ || at(i, nearest[i]) < at(a, nearest[a])) a = i;
      }
      if (a == n_ || at(a, nearest[a]) == kFar) break;
      const size_t b = nearest[a], low = std::min(a, b), high = std::max(a, b);
      parts_[low].insert(parts_[low].end(), parts_[high].begin(), parts_[high].end());
      parts_[high].clear();
      for (size_t j = 0; j < n_; ++j)
        if (j != low && j != high) at(low, j) = at(j, low) = std::max(at(low, j), at(high, j));
      for (size_t i = 0; i < n_; ++i)
        if (!parts_[i].empty() && (i == low || nearest[i] == low || nearest[i] == high))
          find_nearest(i);
    }
    std::vector<std::vector<size_t>> out;
    for (std::vector<size_t>& p : parts_)
      if (!p.empty()) out.push_back(std::move(p));
    return out;
  }

  // Of the points of a cluster the one whose farthest is nearest, and how far that is.
  std::pair<size_t, RankDistance> middle(const std::vector<size_t>& points) const {
    std::pair<size_t, RankDistance> best{points[0], kFar};
    for (const size_t i : points) {
      RankDistance farthest;
      for (const size_t j : points)
        if (i != j) farthest = std::max(farthest, pairs_[i * n_ + j]);
      if (farthest < best.second || points.size() == 1) best = {i, farthest};
    }
    return best;
  }

 private:
  RankDistance& at(size_t i, size_t j) { return apart_[i * n_ + j]; }

  const size_t n_;
  std::vector<RankDistance> apart_, pairs_;
  std::vector<std::vector<size_t>> parts_;
};

void sort_by_lead(Clusters& clusters) {
  for (RankCluster& c : clusters) std::sort(c.members.begin(), c.members.end());
  std::sort(clusters.begin(), clusters.end(),
            [](const RankCluster& a, const RankCluster& b) { return a.lead < b.lead; });
}

}  // namespace

Result<Clusters> reference_clusters(const Trace& trace, const std::vector<RankHead>& heads,
                                    const ClusterOptions& options) {
  ReferenceSignatures parameters(trace);
  return farthest_first(heads, options, [&](size_t a, size_t b) {
    if (heads[a].structure != heads[b].structure)
      return options.mixes_structures ? RankDistance{{1, 0, 0}} : kFar;
    const uint64_t differing =
        parameters.differing(static_cast<Rank>(heads[a].rank), static_cast<Rank>(heads[b].rank));
    return RankDistance{{0, differing, 0}};
  });
}

Clusters two_signature_clusters(const std::vector<RankHead>& heads, const ClusterOptions& options,
                                similarity::RankMetric metric, similarity::Assignment assignment) {
  std::vector<RankHead> cut = heads;
  std::vector<RankSignature> signatures;
  for (RankHead& h : cut) {
    h.signature = truncated(h.signature);
    signatures.push_back(h.signature);
  }
  ClusterOptions steps = options;
  steps.is_double_step = true;
  if (signatures.empty()) return {};
  const similarity::RankDistances distances(similarity::rank_format(signatures), metric);
  return similarity::cluster_ranks(cut, steps, distances, assignment);
}

Result<Clusters> hierarchical_clusters(const std::vector<RankHead>& heads,
                                       const ClusterOptions& options,
                                       const similarity::RankDistances& distances) {
  const std::vector<Point> points = points_of(heads, options, distances, kMostUnlike);
  if (points.size() > kMostUnlike)
    return base::unsupported("the method hierarchical compares all pairs of ranks, and takes " +
                             std::to_string(kMostUnlike) + " unlike ranks at most");
  Uniter uniter(points, options, distances);
  Clusters out;
  for (const std::vector<size_t>& part : uniter.run(std::max(options.k, 1u))) {
    RankCluster& c = out.emplace_back();
    const auto [lead, radius] = uniter.middle(part);
    c.lead = points[lead].head->rank;
    c.radius = radius;
    for (const size_t p : part)
      c.members.insert(c.members.end(), points[p].ranks.begin(), points[p].ranks.end());
  }
  sort_by_lead(out);
  return out;
}

Clusters no_clusters(const std::vector<RankHead>& heads) {
  Clusters out;
  for (const RankHead& h : heads) out.push_back({h.rank, {h.rank}, {}});
  return out;
}

}  // namespace refrain::analysis::clusters
