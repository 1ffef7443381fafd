#include "similarity/vectors/linkage.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace refrain::similarity {
namespace {

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

// Clusters under way, each by the number of one of its members.
class Chains {
 public:
  explicit Chains(PairMatrix distances)
      : distances_(std::move(distances)), sizes_(distances_.size(), 1) {}

  // Clusters left and right of each merge are members of theirs, in no order of heights.
  std::vector<Dendrogram::Merge> run() {
    std::vector<Dendrogram::Merge> out;
    const uint32_t n = distances_.size();
    for (uint32_t merged = 0; merged + 1 < n; ++merged) {
      if (chain_.empty()) chain_.push_back(first_alive());
      grow();
      const uint32_t a = chain_.back(), b = chain_[chain_.size() - 2];
      chain_.resize(chain_.size() - 2);
      out.push_back({std::min(a, b), std::max(a, b), distances_.at(a, b), 0});
      merge(std::min(a, b), std::max(a, b));
    }
    return out;
  }

 private:
  uint32_t first_alive() const {
    return static_cast<uint32_t>(
        std::find_if(sizes_.begin(), sizes_.end(), [](uint32_t n) { return n > 0; }) -
        sizes_.begin());
  }
  // Until the last two are nearest to each other.
  void grow() {
    for (;;) {
      const uint32_t last = chain_.back();
      const uint32_t before = chain_.size() > 1 ? chain_[chain_.size() - 2] : kNone;
      // Among equals it is the one before, or the chain would never end.
      uint32_t nearest = before;
      double least =
          before == kNone ? std::numeric_limits<double>::infinity() : distances_.at(last, before);
      for (uint32_t i = 0; i < sizes_.size(); ++i) {
        if (sizes_[i] == 0 || i == last) continue;
        const double distance = distances_.at(last, i);
        if (distance < least || nearest == kNone) least = distance, nearest = i;
      }
      if (nearest == before) return;
      chain_.push_back(nearest);
    }
  }
  void merge(uint32_t keep, uint32_t gone) {
    sizes_[keep] += sizes_[gone];
    sizes_[gone] = 0;
    for (uint32_t i = 0; i < sizes_.size(); ++i)
      if (sizes_[i] > 0 && i != keep)
        distances_.at(keep, i) = std::max(distances_.at(keep, i), distances_.at(gone, i));
  }

  PairMatrix distances_;
  std::vector<uint32_t> sizes_;  // 0: merged into another one
  std::vector<uint32_t> chain_;
};

// Sets of things that grow together.
class Sets {
 public:
  explicit Sets(uint32_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0); }
  uint32_t find(uint32_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(uint32_t child, uint32_t root) { parent_[child] = root; }

 private:
  std::vector<uint32_t> parent_;
};

}  // namespace

Dendrogram complete_linkage(PairMatrix distances) {
  Dendrogram out;
  out.leaves = distances.size();
  out.merges = Chains(std::move(distances)).run();
  std::stable_sort(out.merges.begin(), out.merges.end(),
                   [](const auto& a, const auto& b) { return a.height < b.height; });
  // Members become clusters: of a member, the one that it is in by then.
  Sets sets(out.leaves);
  std::vector<uint32_t> cluster(out.leaves), size(out.leaves, 1);
  std::iota(cluster.begin(), cluster.end(), 0);
  for (uint32_t i = 0; i < out.merges.size(); ++i) {
    auto& merge = out.merges[i];
    const uint32_t a = sets.find(merge.left), b = sets.find(merge.right);
    sets.join(b, a);
    size[a] += size[b];
    merge.size = size[a];
    merge.left = std::min(cluster[a], cluster[b]);
    merge.right = std::max(cluster[a], cluster[b]);
    cluster[a] = out.leaves + i;
  }
  return out;
}

void renumber(Labels& labels) {
  std::vector<uint32_t> numbers;
  uint32_t next = 0;
  for (uint32_t& label : labels) {
    if (label >= numbers.size()) numbers.resize(label + 1, kNone);
    if (numbers[label] == kNone) numbers[label] = next++;
    label = numbers[label];
  }
}

uint32_t label_count(const Labels& labels) {
  return labels.empty() ? 0 : *std::max_element(labels.begin(), labels.end()) + 1;
}

namespace {

// After the first `merges` of them.
Labels after(const Dendrogram& tree, size_t merges) {
  Sets sets(tree.leaves + static_cast<uint32_t>(tree.merges.size()));
  for (size_t i = 0; i < merges; ++i) {
    const auto to = tree.leaves + static_cast<uint32_t>(i);
    sets.join(tree.merges[i].left, to);
    sets.join(tree.merges[i].right, to);
  }
  Labels out(tree.leaves);
  for (uint32_t i = 0; i < tree.leaves; ++i) out[i] = sets.find(i);
  renumber(out);
  return out;
}

}  // namespace

Labels cut_at(const Dendrogram& tree, double height) {
  const auto end = std::upper_bound(
      tree.merges.begin(), tree.merges.end(), height,
      [](double limit, const Dendrogram::Merge& merge) { return limit < merge.height; });
  return after(tree, static_cast<size_t>(end - tree.merges.begin()));
}

Labels cut_into(const Dendrogram& tree, uint32_t clusters) {
  const uint32_t left = std::clamp<uint32_t>(clusters, 1, std::max(tree.leaves, 1u));
  return after(tree, tree.leaves - std::min(tree.leaves, left));
}

}  // namespace refrain::similarity
