#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "similarity/vectors/distance_matrix.h"
#include "similarity/vectors/k_means.h"
#include "similarity/vectors/linkage.h"
#include "similarity/vectors/representatives.h"

namespace refrain::similarity {
namespace {

class Listed : public VectorSource {
 public:
  explicit Listed(std::vector<std::vector<uint64_t>> all) : all_(std::move(all)) {}
  uint32_t vectors() const override { return static_cast<uint32_t>(all_.size()); }
  uint64_t units() const override { return all_.empty() ? 0 : all_[0].size(); }
  base::Status read(uint64_t first, uint64_t count, std::span<uint64_t> out) override {
    if (first >= fails_at) return base::fail("damaged");
    for (size_t v = 0; v < all_.size(); ++v)
      std::copy_n(all_[v].begin() + static_cast<ptrdiff_t>(first), count,
                  out.begin() + static_cast<ptrdiff_t>(v * count));
    return base::Done{};
  }
  const std::vector<std::vector<uint64_t>>& all() const { return all_; }
  uint64_t fails_at = std::numeric_limits<uint64_t>::max();

 private:
  std::vector<std::vector<uint64_t>> all_;
};

Listed random_vectors(uint32_t n, uint64_t units, uint64_t most, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<uint64_t>> all(n, std::vector<uint64_t>(units));
  for (auto& one : all)
    for (auto& value : one) value = random() % (most + 1);
  return Listed(std::move(all));
}

TEST(DistanceMatrix, IsTheSumOfDifferences) {
  // Short and long units, tiles that end anywhere, numbers of vectors that fill no block.
  for (const uint64_t most : {uint64_t{9}, uint64_t{200} << 20, uint64_t{1} << 40})
    for (const uint32_t n : {1u, 2u, 5u, 37u, 70u}) {
      Listed source = random_vectors(n, 1031, most, most + n);
      const auto manhattan = distance_matrix(source, VectorDistance::kManhattan);
      const auto squared = distance_matrix(source, VectorDistance::kSquaredEuclidean);
      ASSERT_TRUE(manhattan.ok() && squared.ok());
      for (uint32_t i = 0; i < n; ++i)
        for (uint32_t j = i + 1; j < n; ++j) {
          double sum = 0, squares = 0;
          for (size_t k = 0; k < 1031; ++k) {
            const double d =
                static_cast<double>(source.all()[i][k]) - static_cast<double>(source.all()[j][k]);
            sum += std::abs(d), squares += d * d;
          }
          ASSERT_EQ(manhattan->at(j, i), sum);
          ASSERT_NEAR(squared->at(i, j), squares, 1e-9 * squares);
        }
    }
}

TEST(DistanceMatrix, GoesTileByTile) {
  Listed source = random_vectors(3, 4000000, 1000, 7);
  ASSERT_LT(units_per_tile(source), source.units());
  const auto whole = distance_matrix(source, VectorDistance::kManhattan);
  ASSERT_TRUE(whole.ok());
  double sum = 0;
  for (size_t k = 0; k < source.units(); ++k)
    sum +=
        std::abs(static_cast<double>(source.all()[0][k]) - static_cast<double>(source.all()[2][k]));
  EXPECT_EQ(whole->at(0, 2), sum);
  source.fails_at = units_per_tile(source);
  EXPECT_FALSE(distance_matrix(source, VectorDistance::kManhattan).ok());
}

// Algorithm 1 as the paper writes it.
std::vector<double> slow_heights(const PairMatrix& distances) {
  std::vector<std::set<uint32_t>> clusters;
  for (uint32_t i = 0; i < distances.size(); ++i) clusters.push_back({i});
  const auto distance = [&](const std::set<uint32_t>& a, const std::set<uint32_t>& b) {
    double most = 0;
    for (const uint32_t i : a)
      for (const uint32_t j : b) most = std::max(most, distances.at(i, j));
    return most;
  };
  std::vector<double> out;
  while (clusters.size() > 1) {
    size_t a = 0, b = 1;
    for (size_t i = 0; i < clusters.size(); ++i)
      for (size_t j = i + 1; j < clusters.size(); ++j)
        if (distance(clusters[i], clusters[j]) < distance(clusters[a], clusters[b])) a = i, b = j;
    out.push_back(distance(clusters[a], clusters[b]));
    clusters[a].insert(clusters[b].begin(), clusters[b].end());
    clusters.erase(clusters.begin() + static_cast<ptrdiff_t>(b));
  }
  return out;
}

PairMatrix random_distances(uint32_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  PairMatrix out(n);
  for (uint32_t i = 0; i < n; ++i)
    for (uint32_t j = i + 1; j < n; ++j) out.at(i, j) = static_cast<double>(random() >> 12);
  return out;
}

TEST(CompleteLinkage, HasTheHeightsOfTheSlowOne) {
  for (uint64_t seed = 1; seed < 40; ++seed) {
    const PairMatrix distances = random_distances(1 + seed % 23, seed);
    std::vector<double> heights;
    for (const auto& merge : complete_linkage(distances).merges) heights.push_back(merge.height);
    EXPECT_EQ(heights, slow_heights(distances));
  }
}

TEST(CompleteLinkage, EqualDistancesEnd) {
  PairMatrix distances(50);
  for (uint32_t i = 0; i < 50; ++i)
    for (uint32_t j = i + 1; j < 50; ++j) distances.at(i, j) = i % 2 == j % 2 ? 0 : 8;
  const Dendrogram tree = complete_linkage(distances);
  EXPECT_EQ(tree.merges.back().size, 50u);
  EXPECT_EQ(label_count(cut_at(tree, 0)), 2u);
  EXPECT_EQ(label_count(cut_at(tree, 7.9)), 2u);
  EXPECT_EQ(label_count(cut_at(tree, 8)), 1u);
}

TEST(CompleteLinkage, CutsFarthestMembersApart) {
  for (uint64_t seed = 1; seed < 20; ++seed) {
    const PairMatrix distances = random_distances(30, seed);
    const Dendrogram tree = complete_linkage(distances);
    for (const uint32_t k : {1u, 2u, 7u, 30u, 99u}) {
      const Labels labels = cut_into(tree, k);
      EXPECT_EQ(label_count(labels), std::min(k, 30u));
      EXPECT_EQ(labels[0], 0u);
    }
    const double limit = tree.merges[20].height;
    const Labels labels = cut_at(tree, limit);
    for (uint32_t i = 0; i < 30; ++i)
      for (uint32_t j = i + 1; j < 30; ++j)
        if (labels[i] == labels[j]) {
          EXPECT_LE(distances.at(i, j), limit);
        }
  }
}

TEST(CompleteLinkage, NothingAndOneThing) {
  EXPECT_TRUE(complete_linkage(PairMatrix(0)).merges.empty());
  EXPECT_EQ(cut_at(complete_linkage(PairMatrix(1)), 0), Labels{0});
}

Listed three_kinds(uint32_t each) {
  std::mt19937_64 random(5);
  std::vector<std::vector<uint64_t>> all;
  for (uint32_t v = 0; v < 3 * each; ++v) {
    std::vector<uint64_t> one;
    for (int k = 0; k < 100; ++k) one.push_back(1000 * (1 + v % 3) + random() % 50);
    all.push_back(one);
  }
  return Listed(std::move(all));
}

TEST(KMeans, FindsTheKindsThatWerePutIn) {
  Listed source = three_kinds(12);
  const auto squared = distance_matrix(source, VectorDistance::kSquaredEuclidean);
  ASSERT_TRUE(squared.ok());
  for (uint64_t seed = 1; seed < 10; ++seed) {
    const Labels labels = k_means(*squared, {3, seed});
    for (uint32_t v = 0; v < labels.size(); ++v) EXPECT_EQ(labels[v], v % 3);
  }
  EXPECT_EQ(k_means(*squared, {1, 1}), Labels(36, 0));
}

// The sum of squared distances to the means, from the vectors themselves.
double cost_of(const Listed& source, const Labels& labels) {
  double cost = 0;
  for (uint32_t c = 0; c < label_count(labels); ++c)
    for (size_t k = 0; k < source.units(); ++k) {
      double sum = 0, n = 0;
      for (size_t v = 0; v < labels.size(); ++v)
        if (labels[v] == c) sum += static_cast<double>(source.all()[v][k]), ++n;
      for (size_t v = 0; v < labels.size(); ++v)
        if (labels[v] == c) {
          const double d = static_cast<double>(source.all()[v][k]) - sum / n;
          cost += d * d;
        }
    }
  return cost;
}

TEST(KMeans, NoSingleMoveIsBetter) {
  Listed source = random_vectors(24, 3, 100000, 3);
  const auto squared = distance_matrix(source, VectorDistance::kSquaredEuclidean);
  ASSERT_TRUE(squared.ok());
  const Labels labels = k_means(*squared, {4, 1});
  ASSERT_EQ(label_count(labels), 4u);
  // Each is nearest to the mean of its own cluster.
  for (uint32_t v = 0; v < 24; ++v) {
    const auto to_mean = [&](uint32_t c) {
      double distance = 0;
      for (size_t k = 0; k < 3; ++k) {
        double sum = 0, n = 0;
        for (size_t w = 0; w < 24; ++w)
          if (labels[w] == c) sum += static_cast<double>(source.all()[w][k]), ++n;
        const double d = static_cast<double>(source.all()[v][k]) - sum / n;
        distance += d * d;
      }
      return distance;
    };
    for (uint32_t c = 0; c < 4; ++c) EXPECT_LE(to_mean(labels[v]), to_mean(c) * (1 + 1e-9));
  }
  Labels worse(24);
  for (uint32_t v = 0; v < 24; ++v) worse[v] = v % 4;
  EXPECT_LT(cost_of(source, labels), cost_of(source, worse));
}

TEST(KMeans, MoreClustersThanKinds) {
  Listed source({{1, 2}, {1, 2}, {9, 9}, {9, 9}});
  const auto squared = distance_matrix(source, VectorDistance::kSquaredEuclidean);
  EXPECT_EQ(k_means(*squared, {4, 1}), (Labels{0, 0, 1, 1}));
}

TEST(Representatives, AreNearestToTheMean) {
  Listed source({{0, 0}, {10, 0}, {13, 0}, {500, 7}, {500, 9}});
  const auto found = representatives(source, {0, 0, 0, 1, 1});
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ((*found)[0].vector, 1u);  // the mean is 7.67
  EXPECT_EQ((*found)[0].members, 3u);
  EXPECT_EQ((*found)[0].radius_ns, 10);
  EXPECT_EQ((*found)[0].distance_ns, 13);
  EXPECT_EQ((*found)[1].vector, 3u);  // both are as near
  EXPECT_EQ((*found)[1].radius_ns, 2);
}

}  // namespace
}  // namespace refrain::similarity
