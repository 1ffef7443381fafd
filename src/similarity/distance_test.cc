#include "similarity/distance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace refrain::similarity {
namespace {

// The segments of figure 9: do_work and an event after it, and the segment's end.
const std::vector<double> kS0 = {1, 20, 21, 49, 50};
const std::vector<double> kS1 = {1, 40, 41, 50, 51};
const std::vector<double> kS2 = {1, 17, 18, 48, 49};

std::vector<double> transform(const std::vector<double>& stamps, bool haar) {
  const size_t size = wavelet_size(stamps.size());
  std::vector<double> out(size + size / 2);
  wavelet(stamps, haar, out.data());
  out.resize(size);
  return out;
}

bool match(Method method, double threshold, const std::vector<double>& a,
           const std::vector<double>& b) {
  if (method == Method::kAvgWave || method == Method::kHaarWave) {
    const auto ta = transform(a, method == Method::kHaarWave);
    const auto tb = transform(b, method == Method::kHaarWave);
    return vectors_match(method, threshold, ta, largest_value(ta), tb, largest_value(tb));
  }
  return vectors_match(method, threshold, a, largest_value(a), b, largest_value(b));
}

TEST(Distance, RelativeDifferencesOfTheThesis) {
  EXPECT_DOUBLE_EQ(relative_difference(kS2, kS0), 0.15);     // 17 and 20
  EXPECT_NEAR(relative_difference(kS2, kS1), 0.58, 0.0051);  // 17 and 40
  EXPECT_FALSE(match(Method::kRelDiff, 0.5, kS2, kS1));
  EXPECT_TRUE(match(Method::kRelDiff, 0.5, kS2, kS0));
  // Its objection: 1 and 2 do not match, 100 and 125 do.
  EXPECT_FALSE(match(Method::kRelDiff, 0.25, {1}, {2}));
  EXPECT_TRUE(match(Method::kRelDiff, 0.25, {100}, {125}));
}

TEST(Distance, AbsoluteDifferencesOfTheThesis) {
  EXPECT_EQ(largest_difference(kS2, kS1), 23);
  EXPECT_EQ(largest_difference(kS2, kS0), 3);
  EXPECT_FALSE(match(Method::kAbsDiff, 20, kS2, kS1));
  EXPECT_TRUE(match(Method::kAbsDiff, 20, kS2, kS0));
}

TEST(Distance, MinkowskiDistancesOfTheThesis) {
  EXPECT_EQ(manhattan(kS2, kS1), 50);
  EXPECT_NEAR(euclidean(kS2, kS1), 32.6, 0.06);
  EXPECT_EQ(largest_difference(kS2, kS1), 23);
  EXPECT_EQ(manhattan(kS0, kS2), 8);
  EXPECT_NEAR(euclidean(kS0, kS2), 4.5, 0.05);
  EXPECT_EQ(largest_difference(kS0, kS2), 3);
  EXPECT_EQ(largest_value(kS1), 51);
  for (const Method m : {Method::kManhattan, Method::kEuclidean, Method::kChebyshev}) {
    EXPECT_FALSE(match(m, 0.2, kS2, kS1)) << method_name(m);  // at most 10.2
    EXPECT_TRUE(match(m, 0.2, kS0, kS2)) << method_name(m);   // at most 10
  }
}

TEST(Distance, WaveletTransformsOfTheThesis) {
  const auto t0 = transform(kS0, false);
  const auto t2 = transform(kS2, false);
  EXPECT_EQ(t0, (std::vector<double>{17.625, 7.125, 10, -24.75, 0.5, 0.5, 0.5, 0}));
  EXPECT_EQ(t2, (std::vector<double>{16.625, 7.625, 8.5, -24.25, 0.5, 0.5, 0.5, 0}));
  EXPECT_EQ(std::max(largest_value(t0), largest_value(t2)), 17.625);
  EXPECT_NEAR(euclidean(t0, t2), 1.9, 0.04);
  EXPECT_NEAR(0.2 * 17.625, 3.5, 0.03);
  EXPECT_TRUE(match(Method::kAvgWave, 0.2, kS0, kS2));
  EXPECT_FALSE(match(Method::kAvgWave, 0.1, kS0, kS2));  // at most 1.76
}

TEST(Distance, TheHaarTransformKeepsTheEuclideanDistance) {
  EXPECT_NEAR(euclidean(transform(kS0, true), transform(kS2, true)), euclidean(kS0, kS2), 1e-12);
  const auto t0 = transform(kS0, true);
  EXPECT_NEAR(t0[0], 17.625 * 2 * std::sqrt(2.0), 1e-9);
  EXPECT_NEAR(t0[4], 0.5 * std::sqrt(2.0), 1e-12);
}

TEST(Distance, WaveletVectorsAreAPowerOfTwoLong) {
  EXPECT_EQ(wavelet_size(1), 2u);
  EXPECT_EQ(wavelet_size(3), 4u);
  EXPECT_EQ(wavelet_size(5), 8u);
  EXPECT_EQ(wavelet_size(7), 8u);
  EXPECT_EQ(wavelet_size(9), 16u);
  EXPECT_EQ(transform({8}, false), (std::vector<double>{4, 4}));
  EXPECT_EQ(transform({0, 0, 8}, false), (std::vector<double>{2, 2, 0, 4}));
}

// The transform by its definition, on a copy for each step.
std::vector<double> slow_transform(const std::vector<double>& stamps, double factor) {
  std::vector<double> v = {0};
  v.insert(v.end(), stamps.begin(), stamps.end());
  v.resize(wavelet_size(stamps.size()));
  for (size_t width = v.size(); width > 1; width /= 2) {
    const std::vector<double> old = v;
    for (size_t i = 0; i < width / 2; ++i) {
      v[i] = (old[2 * i] + old[2 * i + 1]) * factor;
      v[width / 2 + i] = (old[2 * i + 1] - old[2 * i]) * factor;
    }
  }
  return v;
}

// A decision with an early end is the one that the whole distance gives.
TEST(Distance, EarlyDecisionsAreThoseOfTheDefinitions) {
  std::mt19937_64 random(7);
  int matches = 0;
  for (int round = 0; round < 20000; ++round) {
    const size_t n = 2 * (random() % 20) + 1;
    std::vector<double> a(n);
    double at = 0;
    for (double& x : a) x = at += static_cast<double>(random() % 1000);
    std::vector<double> b = a;
    for (double& x : b) x += static_cast<double>(random() % 200);
    const double threshold = 0.01 * static_cast<double>(1 + random() % 40);
    const double limit = threshold * std::max(largest_value(a), largest_value(b));
    const auto expect = [&](Method m, double distance, double at_most) {
      // Sums of many squares may round the other way right at the limit.
      if (std::fabs(distance - at_most) < 1e-9 * at_most) return;
      matches += distance <= at_most ? 1 : 0;
      EXPECT_EQ(match(m, threshold, a, b), distance <= at_most) << method_name(m);
    };
    expect(Method::kRelDiff, relative_difference(a, b), threshold);
    expect(Method::kManhattan, manhattan(a, b), limit);
    expect(Method::kEuclidean, euclidean(a, b), limit);
    expect(Method::kChebyshev, largest_difference(a, b), limit);
    for (const bool haar : {false, true}) {
      const auto ta = slow_transform(a, haar ? std::sqrt(0.5) : 0.5);
      const auto tb = slow_transform(b, haar ? std::sqrt(0.5) : 0.5);
      const auto fast = transform(a, haar);
      for (size_t i = 0; i < ta.size(); ++i) ASSERT_NEAR(fast[i], ta[i], 1e-6);
      expect(haar ? Method::kHaarWave : Method::kAvgWave, euclidean(ta, tb),
             threshold * std::max(largest_value(ta), largest_value(tb)));
    }
  }
  EXPECT_GT(matches, 10000);
  EXPECT_LT(matches, 110000);
}

TEST(Distance, EqualVectorsMatchAtThresholdZero) {
  for (const Method m : {Method::kRelDiff, Method::kAbsDiff, Method::kManhattan, Method::kEuclidean,
                         Method::kChebyshev, Method::kAvgWave, Method::kHaarWave}) {
    EXPECT_TRUE(match(m, 0, kS0, kS0)) << method_name(m);
    EXPECT_FALSE(match(m, 0, kS0, kS2)) << method_name(m);
    EXPECT_TRUE(match(m, 0, {0}, {0})) << method_name(m);
  }
}

}  // namespace
}  // namespace refrain::similarity
