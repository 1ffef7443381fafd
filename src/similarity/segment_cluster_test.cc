#include "similarity/segment_cluster.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace refrain::similarity {
namespace {

using Values = std::vector<double>;

Values of(const Values& stamps) {
  Values out(kWideClusterParts * stamps.size());
  cluster_of_one(stamps.data(), stamps.size(), true, out.data());
  return out;
}

TEST(Cluster, OneDurationMayBeAnything) {
  // Work, a call that waits, and its end; noise and floor are nothing here.
  const Values a = of({1000, 1100, 1100});
  const Values longer_work = of({3000, 3100, 3100});
  const Values longer_wait = of({1000, 5000, 5000});
  const Values both = of({2000, 5000, 5000});
  const Tolerance tolerance{0.1, 0, 0};
  uint32_t elastic = kRigid;
  EXPECT_FALSE(cluster_fits({a.data()}, {longer_work.data()}, 3, tolerance, false, &elastic));
  EXPECT_TRUE(cluster_fits({a.data()}, {longer_work.data()}, 3, tolerance, true, &elastic));
  EXPECT_EQ(elastic, 0u);
  EXPECT_TRUE(cluster_fits({a.data()}, {longer_wait.data()}, 3, tolerance, true, &elastic));
  EXPECT_EQ(elastic, 1u);
  EXPECT_FALSE(cluster_fits({a.data()}, {both.data()}, 3, tolerance, true, &elastic));
  // Once it is decided it stays.
  EXPECT_FALSE(cluster_fits({a.data(), 1, 1}, {longer_work.data()}, 3, tolerance, true, &elastic));
  EXPECT_FALSE(
      cluster_fits({a.data(), 1, 1}, {longer_wait.data(), 1, 0}, 3, tolerance, true, &elastic));
}

TEST(Cluster, FloorsAreAShareOfTheSegmentAndNoise) {
  const Values a = of({10, 1000, 1000});
  const Values b = of({30, 1020, 1020});
  uint32_t elastic = kRigid;
  EXPECT_FALSE(cluster_fits({a.data()}, {b.data()}, 3, {0.1, 0, 0}, false, &elastic));
  EXPECT_TRUE(cluster_fits({a.data()}, {b.data()}, 3, {0.1, 0, 0.25}, false, &elastic));
  EXPECT_TRUE(cluster_fits({a.data()}, {b.data()}, 3, {0.1, 10, 0}, false, &elastic));
  EXPECT_EQ(elastic, kRigid);
}

TEST(Cluster, StretchKeepsDistancesToStartAndEnd) {
  const Values mean = {10, 20, 30, 40, 45};
  Values out(5);
  stretch(mean.data(), 5, 2, 55, out.data());
  EXPECT_EQ(out, (Values{10, 20, 40, 50, 55}));
  stretch(mean.data(), 5, 2, 37, out.data());  // 8 less: the interval is 2
  EXPECT_EQ(out, (Values{10, 20, 22, 32, 37}));
  stretch(mean.data(), 5, 2, 30, out.data());  // more than it has: nothing falls
  EXPECT_EQ(out, (Values{10, 20, 20, 25, 30}));
  stretch(mean.data(), 5, kRigid, 30, out.data());
  EXPECT_EQ(out, mean);
}

// Random segments, taken in as long as they fit: the mean, stretched, is within the tolerance of
// each of them, and within what cluster_error_ns() says.
TEST(Cluster, WhatFitsIsWithinTheTolerance) {
  std::mt19937_64 random(4);
  int taken = 0;
  for (int round = 0; round < 500; ++round) {
    const size_t n = 3 + 2 * (random() % 6);
    const Tolerance tolerance{0.02 + 0.01 * static_cast<double>(random() % 20),
                              static_cast<double>(random() % 3 * 500),
                              0.1 * static_cast<double>(random() % 4)};
    Values shape(n);
    for (double& x : shape) x = static_cast<double>(100 + random() % 100000);
    const uint64_t varies = random() % n;
    Values cluster;
    uint64_t count = 0;
    uint32_t elastic = kRigid;
    std::vector<Values> members;
    for (int i = 0; i < 40; ++i) {
      Values stamps(n);
      double at = 0;
      for (size_t k = 0; k < n; ++k) {
        const double part = static_cast<double>(random() % 1000) / 1000;
        at +=
            std::round(shape[k] * (1 + tolerance.ratio * part) + (k == varies ? 200000 * part : 0));
        stamps[k] = at;
      }
      const Values one = of(stamps);
      uint32_t decided = kRigid;
      if (count > 0 && !cluster_fits({cluster.data(), count, elastic}, {one.data()}, n, tolerance,
                                     true, &decided))
        continue;
      if (count++ == 0) {
        cluster = one;
      } else {
        cluster_unite(cluster.data(), one.data(), n, true);
        elastic = decided;
      }
      members.push_back(stamps);
      ++taken;
    }
    const uint32_t used = elastic == kRigid ? widest_interval(cluster.data(), n) : elastic;
    Values mean(n);
    cluster_mean(cluster.data(), count, n, mean.data());
    const double error = cluster_error_ns(cluster.data(), count, n, used);
    for (const Values& m : members) {
      Values out(n);
      stretch(mean.data(), n, used, m[n - 1], out.data());
      const double floor = tolerance.noise_ns + tolerance.floor_share * tolerance.ratio * m[n - 1];
      for (size_t k = 0; k < n; ++k) {
        const double off = std::fabs(out[k] - m[k]);
        ASSERT_LE(off, error + 1e-6);
        ASSERT_LE(off, tolerance.ratio * m[n - 1] + tolerance.noise_ns + 1.5);
        if (k == used) continue;
        const double duration = m[k] - (k == 0 ? 0 : m[k - 1]);
        const double rebuilt = out[k] - (k == 0 ? 0 : out[k - 1]);
        ASSERT_LE(std::fabs(rebuilt - duration), std::max(tolerance.ratio * duration, floor) + 1.5);
      }
    }
  }
  EXPECT_GT(taken, 5000);
}

}  // namespace
}  // namespace refrain::similarity
