#include "similarity/ranks/k_farthest.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace refrain::similarity {

namespace {

constexpr uint32_t kNone = UINT32_MAX;
constexpr RankDistance kFar{{UINT64_MAX, UINT64_MAX, UINT64_MAX}};

bool may_stand_for(const RankHead& a, const RankHead& b, const ClusterOptions& options) {
  return options.mixes_structures || a.structure == b.structure;
}

// Farthest-point selection over a few heads.
class Selector {
 public:
  Selector(std::span<const RankHead> heads, const ClusterOptions& options,
           const RankDistances& distances)
      : heads_(heads),
        options_(options),
        distances_(distances),
        is_chosen_(heads.size(), false),
        to_chosen_(heads.size(), kFar) {}

  HeadSelection run() {
    count_structures();
    if (heads_.size() > limit_ && !options_.is_double_step && limit_ > 1) choose_farthest_pair();
    if (chosen_.empty()) choose(0);
    while (chosen_.size() < limit_) {
      const uint32_t next = farthest();
      if (next == kNone) break;
      choose(next);
    }
    HeadSelection out;
    for (uint32_t i = 0; i < heads_.size(); ++i)
      if (is_chosen_[i]) out.chosen.push_back(i);
    std::vector<RankHead> leads;
    for (const uint32_t c : out.chosen) leads.push_back(heads_[c]);
    out.nearest.resize(heads_.size());
    for (uint32_t i = 0; i < heads_.size(); ++i)
      out.nearest[i] = nearest_head(leads, heads_[i], options_, distances_);
    for (uint32_t c = 0; c < out.chosen.size(); ++c) out.nearest[out.chosen[c]] = c;
    return out;
  }

 private:
  void count_structures() {
    std::vector<uint64_t> all;
    for (const RankHead& h : heads_) all.push_back(h.structure);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    missing_ = options_.mixes_structures ? std::vector<uint64_t>() : std::move(all);
    limit_ = std::max<size_t>(std::max(options_.k, 1u), missing_.size());
  }

  // Whether every place that is left is needed for a structure that nobody stands for yet.
  bool must_be_new() const { return missing_.size() >= limit_ - chosen_.size(); }
  bool is_missing(uint64_t structure) const {
    return std::binary_search(missing_.begin(), missing_.end(), structure);
  }

  void choose_farthest_pair() {
    RankDistance farthest;
    uint32_t first = kNone, second = kNone;
    const bool is_tight = missing_.size() >= limit_;
    for (uint32_t i = 0; i < heads_.size(); ++i) {
      for (uint32_t j = i + 1; j < heads_.size(); ++j) {
        if (is_tight && heads_[i].structure == heads_[j].structure) continue;
        const RankDistance d = distances_.between(heads_[i].signature, heads_[j].signature);
        if (first != kNone && d <= farthest) continue;
        farthest = d;
        first = i;
        second = j;
      }
    }
    if (first == kNone ||
        (farthest == RankDistance{} && may_stand_for(heads_[first], heads_[second], options_)))
      return;
    choose(first);
    choose(second);
  }

  void choose(uint32_t c) {
    is_chosen_[c] = true;
    chosen_.push_back(c);
    const auto at = std::lower_bound(missing_.begin(), missing_.end(), heads_[c].structure);
    if (at != missing_.end() && *at == heads_[c].structure) missing_.erase(at);
    for (uint32_t i = 0; i < heads_.size(); ++i) {
      if (is_chosen_[i] || !may_stand_for(heads_[c], heads_[i], options_)) continue;
      if (options_.is_double_step && heads_[c].signature.call_path != heads_[i].signature.call_path)
        continue;
      to_chosen_[i] =
          std::min(to_chosen_[i], distances_.between(heads_[c].signature, heads_[i].signature));
    }
  }

  // What nobody may stand for is farthest of all.
  uint32_t farthest() const {
    uint32_t found = kNone;
    for (uint32_t i = 0; i < heads_.size(); ++i) {
      if (is_chosen_[i] || to_chosen_[i] == RankDistance{}) continue;
      if (must_be_new() && !missing_.empty() && !is_missing(heads_[i].structure)) continue;
      if (found == kNone || to_chosen_[i] > to_chosen_[found]) found = i;
    }
    return found;
  }

  std::span<const RankHead> heads_;
  const ClusterOptions& options_;
  const RankDistances& distances_;
  size_t limit_ = 0;
  std::vector<uint64_t> missing_;  // structures that no chosen one has, sorted
  std::vector<uint32_t> chosen_;
  std::vector<bool> is_chosen_;
  std::vector<RankDistance> to_chosen_;  // the nearest one that may stand for it
};

void append(RankBranch& to, RankBranch from) {
  std::move(from.heads.begin(), from.heads.end(), std::back_inserter(to.heads));
  std::move(from.members.begin(), from.members.end(), std::back_inserter(to.members));
}

void sort_by_rank(RankBranch& b) {
  std::vector<uint32_t> order(b.heads.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&b](uint32_t x, uint32_t y) { return b.heads[x].rank < b.heads[y].rank; });
  RankBranch sorted;
  for (const uint32_t i : order) {
    sorted.heads.push_back(b.heads[i]);
    sorted.members.push_back(std::move(b.members[i]));
  }
  b = std::move(sorted);
}

}  // namespace

HeadSelection select_heads(std::span<const RankHead> heads, const ClusterOptions& options,
                           const RankDistances& distances) {
  return Selector(heads, options, distances).run();
}

uint32_t nearest_head(std::span<const RankHead> chosen, const RankHead& head,
                      const ClusterOptions& options, const RankDistances& distances) {
  uint32_t found = kNone;
  RankDistance nearest;
  // Of its call path where somebody has it, else of any.
  for (const bool by_path : {true, false}) {
    for (uint32_t c = 0; c < chosen.size(); ++c) {
      if (!may_stand_for(chosen[c], head, options)) continue;
      if (by_path && options.is_double_step &&
          chosen[c].signature.call_path != head.signature.call_path)
        continue;
      const RankDistance d = distances.between(chosen[c].signature, head.signature);
      if (found != kNone && d >= nearest) continue;
      found = c;
      nearest = d;
    }
    if (found != kNone) break;
  }
  return found == kNone ? 0 : found;
}

std::vector<RankHead> merge_heads(std::vector<RankHead> own, std::vector<RankHead> of_children,
                                  const ClusterOptions& options, const RankDistances& distances) {
  std::move(of_children.begin(), of_children.end(), std::back_inserter(own));
  std::sort(own.begin(), own.end(),
            [](const RankHead& a, const RankHead& b) { return a.rank < b.rank; });
  const HeadSelection selection = select_heads(own, options, distances);
  std::vector<RankHead> out;
  for (const uint32_t c : selection.chosen) out.push_back(own[c]);
  return out;
}

RankBranch merge_branches(RankBranch all, RankBranch of_children, const ClusterOptions& options,
                          const RankDistances& distances) {
  append(all, std::move(of_children));
  sort_by_rank(all);
  const HeadSelection selection = select_heads(all.heads, options, distances);
  RankBranch out;
  for (const uint32_t c : selection.chosen) out.heads.push_back(all.heads[c]);
  out.members.resize(out.heads.size());
  for (size_t i = 0; i < all.heads.size(); ++i) {
    std::vector<uint32_t>& members = out.members[selection.nearest[i]];
    members.insert(members.end(), all.members[i].begin(), all.members[i].end());
  }
  return out;
}

std::vector<RankCluster> cluster_ranks(std::span<const RankHead> ranks,
                                       const ClusterOptions& options,
                                       const RankDistances& distances, Assignment assignment) {
  std::vector<RankBranch> nodes(ranks.size());
  for (size_t r = ranks.size(); r-- > 0;) {
    RankBranch passed_on = merge_branches({{ranks[r]}, {{ranks[r].rank}}},
                                          std::exchange(nodes[r], {}), options, distances);
    if (assignment == Assignment::kNearest) {
      for (std::vector<uint32_t>& m : passed_on.members) m.clear();
    }
    append(nodes[r == 0 ? 0 : (r - 1) / 2], std::move(passed_on));
  }
  std::vector<RankCluster> out;
  if (ranks.empty()) return out;
  const RankBranch& root = nodes[0];
  for (size_t c = 0; c < root.heads.size(); ++c)
    out.push_back(RankCluster{root.heads[c].rank, root.members[c], {}});
  for (const RankHead& rank : ranks) {
    if (assignment == Assignment::kTree) break;
    out[nearest_head(root.heads, rank, options, distances)].members.push_back(rank.rank);
  }
  for (size_t c = 0; c < out.size(); ++c) {
    std::sort(out[c].members.begin(), out[c].members.end());
    for (const uint32_t m : out[c].members) {
      const auto at = std::lower_bound(ranks.begin(), ranks.end(), m,
                                       [](const RankHead& h, uint32_t r) { return h.rank < r; });
      out[c].radius =
          std::max(out[c].radius, distances.between(root.heads[c].signature, at->signature));
    }
  }
  return out;
}

}  // namespace refrain::similarity
