#include "similarity/vectors/k_means.h"

#include <algorithm>
#include <limits>

namespace refrain::similarity {
namespace {

// The standard leaves to each library how a number in a range is drawn.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  // From 0 to below 1 (splitmix64).
  double next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }

 private:
  uint64_t state_;
};

struct Outcome {
  Labels labels;
  double cost = std::numeric_limits<double>::infinity();  // sum of squared distances to the means
};

class Start {
 public:
  Start(const PairMatrix& squared, uint32_t clusters, Random& random)
      : squared_(squared), clusters_(clusters), random_(random) {}

  Outcome run(uint32_t rounds) {
    Outcome out;
    out.labels = nearest_of(seeds());
    for (uint32_t round = 0; round < rounds; ++round) {
      Labels next = out.labels;
      const double cost = assign(next);
      const bool is_settled = next == out.labels || cost >= out.cost;
      if (cost < out.cost) out.labels = std::move(next), out.cost = cost;
      if (is_settled) break;
    }
    return out;
  }

 private:
  double distance(uint32_t i, uint32_t j) const { return i == j ? 0 : squared_.at(i, j); }

  // k-means++: each seed is drawn with the square of its distance to the nearest one before.
  std::vector<uint32_t> seeds() {
    const uint32_t n = squared_.size();
    std::vector<uint32_t> out{std::min(n - 1, static_cast<uint32_t>(random_.next() * n))};
    std::vector<double> least(n, std::numeric_limits<double>::infinity());
    while (out.size() < clusters_) {
      double sum = 0;
      for (uint32_t i = 0; i < n; ++i) {
        least[i] = std::min(least[i], distance(i, out.back()));
        sum += least[i];
      }
      if (sum <= 0) break;  // no further different vector
      double left = random_.next() * sum;
      uint32_t drawn = 0;
      for (uint32_t i = 0; i < n; ++i) {
        if (least[i] <= 0) continue;
        drawn = i;
        left -= least[i];
        if (left < 0) break;
      }
      out.push_back(drawn);
    }
    return out;
  }

  Labels nearest_of(const std::vector<uint32_t>& seeds) const {
    Labels out(squared_.size());
    for (uint32_t i = 0; i < out.size(); ++i)
      for (uint32_t k = 1; k < seeds.size(); ++k)
        if (distance(i, seeds[k]) < distance(i, seeds[out[i]])) out[i] = k;
    return out;
  }

  // Everything goes to the nearest mean of `labels`; a cluster that loses all its members is gone.
  // Returns the cost of the labels that it was given.
  double assign(Labels& labels) const {
    const uint32_t n = squared_.size(), k = label_count(labels);
    std::vector<double> sums(size_t{n} * k), within(k), sizes(k);
    for (uint32_t i = 0; i < n; ++i) {
      ++sizes[labels[i]];
      for (uint32_t j = i + 1; j < n; ++j) {
        const double d = squared_.at(i, j);
        sums[size_t{i} * k + labels[j]] += d;
        sums[size_t{j} * k + labels[i]] += d;
        if (labels[i] == labels[j]) within[labels[i]] += d;
      }
    }
    double cost = 0;
    for (uint32_t c = 0; c < k; ++c)
      if (sizes[c] > 0) cost += within[c] / sizes[c];
    for (uint32_t i = 0; i < n; ++i) {
      double least = std::numeric_limits<double>::infinity();
      uint32_t nearest = labels[i];
      for (uint32_t c = 0; c < k; ++c) {
        if (sizes[c] == 0) continue;
        const double to_mean =
            sums[size_t{i} * k + c] / sizes[c] - within[c] / (sizes[c] * sizes[c]);
        if (to_mean < least || (to_mean == least && c == labels[i])) least = to_mean, nearest = c;
      }
      labels[i] = nearest;
    }
    return cost;
  }

  const PairMatrix& squared_;
  uint32_t clusters_;
  Random& random_;
};

}  // namespace

Labels k_means(const PairMatrix& squared, const KMeans& how) {
  if (squared.size() == 0) return {};
  Random random(how.seed);
  Outcome best;
  const uint32_t clusters = std::clamp<uint32_t>(how.clusters, 1, squared.size());
  for (uint32_t start = 0; start < std::max(how.starts, 1u); ++start) {
    Outcome outcome = Start(squared, clusters, random).run(std::max(how.rounds, 1u));
    if (outcome.cost < best.cost) best = std::move(outcome);
  }
  renumber(best.labels);
  return best.labels;
}

}  // namespace refrain::similarity
