#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "grammar/builder.h"
#include "similarity/ranks/k_farthest.h"
#include "similarity/ranks/rank_lists.h"

namespace refrain::similarity {
namespace {

using Calls = std::vector<uint32_t>;

grammar::Grammar grammar_of(const Calls& calls) {
  grammar::Builder b;
  for (const uint32_t c : calls) b.append(c);
  return b.finish();
}

void repeat(Calls& to, const Calls& body, int times) {
  for (int i = 0; i < times; ++i) to.insert(to.end(), body.begin(), body.end());
}

std::vector<RankEvent> events_of(size_t n) {
  std::mt19937_64 random(n);
  std::vector<RankEvent> all(n);
  for (RankEvent& e : all) {
    e.stack = random();
    e.values = {{RankFeature::kCount, static_cast<int64_t>(random() % 1000)},
                {RankFeature::kDestination, static_cast<int64_t>(random() % 9) - 4}};
    if (random() % 2 == 0) e.values.push_back({RankFeature::kTag, 7});
    e.types = {static_cast<uint8_t>(random() % kRankTypes)};
  }
  return all;
}

TEST(RankSignature, MeansAreThoseOfAllCalls) {
  std::mt19937_64 random(5);
  const std::vector<RankEvent> events = events_of(6);
  for (int round = 0; round < 50; ++round) {
    Calls calls;
    for (int part = 0; part < 4; ++part) {
      Calls body;
      for (size_t i = 0; i <= random() % 4; ++i) body.push_back(random() % 6);
      repeat(calls, body, 1 + static_cast<int>(random() % 30));
    }
    std::map<RankFeature, std::pair<double, double>> sums;
    std::set<uint8_t> types;
    for (const uint32_t c : calls) {
      for (const auto& v : events[c].values) {
        sums[v.feature].first += static_cast<double>(v.value);
        sums[v.feature].second += 1;
      }
      types.insert(events[c].types[0]);
    }
    const RankSignature s = rank_signature(grammar_of(calls), events, {});
    for (size_t m = 0; m < kRankMeans; ++m) {
      const auto [sum, n] = sums[mean_feature(m)];
      EXPECT_NEAR(static_cast<double>(s.means[m]), n > 0 ? sum / n : 0, 0.51);
    }
    size_t bits = 0;
    for (const uint8_t t : types) bits += s.types[t / 64] >> t % 64 & 1;
    EXPECT_EQ(bits, types.size());
  }
}

TEST(RankSignature, SumsBeyond64BitsKeepTheirMean) {
  std::vector<RankEvent> events(1);
  events[0].values = {{RankFeature::kCount, INT64_MAX}};
  Calls calls(1000, 0);
  EXPECT_EQ(rank_signature(grammar_of(calls), events, {}).means[0], INT64_MAX);
  events[0].values[0].value = INT64_MIN;
  EXPECT_EQ(rank_signature(grammar_of(calls), events, {}).means[0], INT64_MIN);
}

TEST(RankSignature, TimesAreMeansOverCalls) {
  const std::vector<RankEvent> events(2);
  const RankSignature s = rank_signature(grammar_of({0, 1, 1, 1}), events, {4000, 10});
  EXPECT_EQ(s.means[mean_of(RankFeature::kComputation)], 1000);
  EXPECT_EQ(s.means[mean_of(RankFeature::kCommunication)], 3);
}

TEST(RankSignature, HowOftenALoopGoesRoundDoesNotChangeTheCallPath) {
  const std::vector<RankEvent> events = events_of(8);
  const auto program = [&](int outer, int inner, bool swapped) {
    Calls calls = {0}, body;
    repeat(body, swapped ? Calls{2, 1} : Calls{1, 2}, inner);
    body.push_back(3);
    repeat(calls, body, outer);
    calls.push_back(4);
    return rank_signature(grammar_of(calls), events, {});
  };
  const RankSignature s = program(10, 20, false);
  for (const auto& [outer, inner] : {std::pair(2, 2), std::pair(1000, 3), std::pair(7, 500)})
    EXPECT_EQ(program(outer, inner, false).call_path, s.call_path) << outer << " " << inner;
  EXPECT_NE(program(10, 20, true).call_path, s.call_path);
  // One call more, and one that cancels itself out by XOR alone.
  EXPECT_NE(rank_signature(grammar_of({0, 5, 1, 5}), events, {}).call_path,
            rank_signature(grammar_of({0, 1}), events, {}).call_path);
  EXPECT_EQ(s.loop, 10u << 16 | 20u);
}

TEST(RankSignature, LoopsAboveTheThirdLevelShareTheLastField) {
  std::vector<RankEvent> events(10);
  Calls all = {0};
  const int times[] = {3, 4, 5, 6, 8};
  uint32_t next = 1;
  for (const int n : times) {
    Calls once = all;
    once.push_back(next++);
    all.clear();
    repeat(all, once, n);
  }
  const uint64_t loop = rank_signature(grammar_of(all), events, {}).loop;
  EXPECT_EQ(loop & 0xffff, 3u);
  EXPECT_EQ(loop >> 16 & 0xffff, 4u);
  EXPECT_EQ(loop >> 32 & 0xffff, 5u);
  EXPECT_EQ(loop >> 48, 7u);  // of 6 and 8
  Calls many(200'000, 0);
  EXPECT_EQ(rank_signature(grammar_of(many), events, {}).loop, 0xffffu);
}

RankSignature random_signature(std::mt19937_64& random) {
  RankSignature s;
  s.call_path = random() % 3;
  for (int64_t& m : s.means) m = static_cast<int64_t>(random() % 5) - 2;
  s.loop = random() % 3 << 16 | random() % 4;
  s.types[0] = random() % 8;
  return s;
}

TEST(RankFormat, TheTreeFindsWhatDiffersAnywhere) {
  std::mt19937_64 random(9);
  for (int round = 0; round < 300; ++round) {
    const size_t n = 1 + random() % 20;
    std::vector<RankSignature> all(n, random_signature(random));
    if (random() % 2 == 0) all[random() % n].means[random() % kRankMeans] += 3;
    if (random() % 2 == 0) all[random() % n].loop ^= 1;
    if (random() % 4 == 0) all[random() % n].types[1] ^= 4;
    const RankFormat format = rank_format(all);
    for (size_t f = 0; f < kRankFeatures; ++f) {
      const auto feature = static_cast<RankFeature>(f);
      const bool differs = std::any_of(all.begin(), all.end(), [&](const RankSignature& s) {
        return !s.is_equal(feature, all[0]);
      });
      EXPECT_EQ(format.differing().has(feature), differs) << f;
    }
    for (size_t m = 0; m < kRankMeans; ++m) {
      const auto [low, high] = std::minmax_element(
          all.begin(), all.end(),
          [m](const auto& a, const auto& b) { return a.means[m] < b.means[m]; });
      EXPECT_EQ(format.span(mean_feature(m)),
                static_cast<uint64_t>(high->means[m] - low->means[m]));
    }
  }
}

TEST(RankDistances, ImportanceComesBeforeSize) {
  RankSignature base, path, end, count;
  path.call_path = 1;
  end.means[mean_of(RankFeature::kSource)] = 1;
  count.means[mean_of(RankFeature::kCount)] = INT64_MAX;
  const RankSignature all[] = {base, path, end, count};
  for (const RankMetric metric : {RankMetric::kManhattan, RankMetric::kEuclidean}) {
    const RankDistances d(rank_format(all), metric);
    EXPECT_GT(d.between(base, path), d.between(base, end));
    EXPECT_GT(d.between(base, end), d.between(base, count));
    EXPECT_GT(d.between(base, count), d.between(base, base));
    EXPECT_EQ(d.between(base, count), d.between(count, base));
    // Even all ends at once do not outweigh a call.
    RankSignature far = end;
    for (int64_t& m : far.means) m = INT64_MAX;
    EXPECT_GT(d.between(base, path), d.between(base, far));
  }
  RankFeatures only;
  only.add(RankFeature::kCount);
  const RankDistances d(rank_format(all), RankMetric::kManhattan, only);
  EXPECT_EQ(d.between(base, path), RankDistance{});
}

TEST(RankDistances, TheTriangleHolds) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 2000; ++round) {
    const RankSignature s[] = {random_signature(random), random_signature(random),
                               random_signature(random)};
    const RankDistances d(rank_format(s), RankMetric::kManhattan);
    const RankDistance ab = d.between(s[0], s[1]), bc = d.between(s[1], s[2]),
                       ac = d.between(s[0], s[2]);
    for (size_t g = 0; g < 3; ++g)
      EXPECT_LE(ac.groups[g], ab.groups[g] + bc.groups[g] + 16);  // what is scaled is cut off
  }
}

// As the paper says it, without a tree and without thought for time.
std::vector<uint32_t> chosen_slowly(const std::vector<RankHead>& heads, uint32_t k,
                                    const RankDistances& d) {
  const auto far = [&](uint32_t a, uint32_t b) {
    return d.between(heads[a].signature, heads[b].signature);
  };
  std::pair<uint32_t, uint32_t> pair{0, 0};
  for (uint32_t i = 0; i < heads.size(); ++i)
    for (uint32_t j = i + 1; j < heads.size(); ++j)
      if (far(i, j) > far(pair.first, pair.second)) pair = {i, j};
  std::set<uint32_t> chosen = {pair.first, pair.second};
  while (chosen.size() < k) {
    uint32_t best = 0;
    RankDistance most;
    for (uint32_t i = 0; i < heads.size(); ++i) {
      RankDistance nearest{{UINT64_MAX, 0, 0}};
      for (const uint32_t c : chosen) nearest = std::min(nearest, far(i, c));
      if (nearest > most) most = nearest, best = i;
    }
    if (most == RankDistance{}) break;
    chosen.insert(best);
  }
  return {chosen.begin(), chosen.end()};
}

TEST(KFarthest, ChoosesAsTheSlowOne) {
  std::mt19937_64 random(21);
  for (int round = 0; round < 300; ++round) {
    std::vector<RankHead> heads(10 + random() % 10);
    std::vector<RankSignature> signatures;
    for (uint32_t i = 0; i < heads.size(); ++i) {
      heads[i] = {i, 0, random_signature(random)};
      signatures.push_back(heads[i].signature);
    }
    const RankDistances d(rank_format(signatures), RankMetric::kManhattan);
    const auto k = static_cast<uint32_t>(2 + random() % 7);
    const HeadSelection found = select_heads(heads, {k, false, false}, d);
    ASSERT_EQ(found.chosen, chosen_slowly(heads, k, d));
    for (uint32_t i = 0; i < heads.size(); ++i) {
      const auto to = [&](uint32_t c) {
        return d.between(heads[i].signature, heads[found.chosen[c]].signature);
      };
      for (uint32_t c = 0; c < found.chosen.size(); ++c) EXPECT_LE(to(found.nearest[i]), to(c));
    }
  }
}

// A stencil on nx * ny ranks: what is missing at the edges are calls.
std::vector<RankHead> stencil(int nx, int ny, std::mt19937_64& random) {
  std::vector<RankHead> all;
  for (int y = 0; y < ny; ++y) {
    for (int x = 0; x < nx; ++x) {
      RankHead h;
      h.rank = static_cast<uint32_t>(y * nx + x);
      h.structure = (x == 0 ? 1u : 0u) | (x == nx - 1 ? 2u : 0u) | (y == 0 ? 4u : 0u) |
                    (y == ny - 1 ? 8u : 0u);
      h.signature.call_path = 0x9e3779b97f4a7c15 * (h.structure + 1);
      h.signature.means[mean_of(RankFeature::kComputation)] =
          1000 + static_cast<int64_t>(random() % 9);
      all.push_back(h);
    }
  }
  return all;
}

RankDistances distances_of(const std::vector<RankHead>& heads) {
  std::vector<RankSignature> signatures;
  for (const RankHead& h : heads) signatures.push_back(h.signature);
  return {rank_format(signatures), RankMetric::kManhattan};
}

TEST(KFarthest, NineClustersOfAStencil) {
  std::mt19937_64 random(2);
  for (const int n : {8, 32, 64}) {
    const std::vector<RankHead> ranks = stencil(n, n, random);
    const RankDistances d = distances_of(ranks);
    for (const Assignment how : {Assignment::kNearest, Assignment::kTree}) {
      for (const bool is_double : {false, true}) {
        const auto clusters = cluster_ranks(ranks, {9, is_double, false}, d, how);
        std::multiset<size_t> sizes;
        for (const RankCluster& c : clusters) {
          sizes.insert(c.members.size());
          EXPECT_TRUE(std::binary_search(c.members.begin(), c.members.end(), c.lead));
          for (const uint32_t m : c.members) EXPECT_EQ(ranks[m].structure, ranks[c.lead].structure);
          EXPECT_EQ(c.radius.groups[0], 0u);
        }
        const auto edge = static_cast<size_t>(n - 2);
        EXPECT_EQ(sizes, (std::multiset<size_t>{1, 1, 1, 1, edge, edge, edge, edge, edge * edge}));
      }
    }
  }
}

TEST(KFarthest, KIsRaisedToTheNumberOfStructuresUnlessTheyAreMixed) {
  std::mt19937_64 random(3);
  const std::vector<RankHead> ranks = stencil(6, 6, random);
  const RankDistances d = distances_of(ranks);
  EXPECT_EQ(cluster_ranks(ranks, {4, false, false}, d).size(), 9u);
  EXPECT_EQ(cluster_ranks(ranks, {4, false, true}, d).size(), 4u);
  EXPECT_EQ(cluster_ranks(ranks, {1, false, true}, d).size(), 1u);
}

TEST(KFarthest, EveryRankIsInOneClusterWhateverTheOptions) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 200; ++round) {
    std::vector<RankHead> ranks(1 + random() % 60);
    for (uint32_t i = 0; i < ranks.size(); ++i)
      ranks[i] = {i, random() % 4, random_signature(random)};
    const RankDistances d = distances_of(ranks);
    const ClusterOptions options{static_cast<uint32_t>(1 + random() % 8), random() % 2 == 0,
                                 random() % 2 == 0};
    for (const Assignment how : {Assignment::kNearest, Assignment::kTree}) {
      std::vector<uint32_t> seen;
      for (const RankCluster& c : cluster_ranks(ranks, options, d, how)) {
        seen.insert(seen.end(), c.members.begin(), c.members.end());
        EXPECT_TRUE(std::binary_search(c.members.begin(), c.members.end(), c.lead));
        for (const uint32_t m : c.members)
          EXPECT_TRUE(options.mixes_structures || ranks[m].structure == ranks[c.lead].structure);
      }
      std::sort(seen.begin(), seen.end());
      ASSERT_EQ(seen.size(), ranks.size());
      for (uint32_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], i);
    }
  }
}

TEST(KFarthest, EqualRanksAreOneCluster) {
  std::vector<RankHead> ranks(100);
  for (uint32_t i = 0; i < ranks.size(); ++i) ranks[i].rank = i;
  const auto clusters = cluster_ranks(ranks, {}, distances_of(ranks));
  ASSERT_EQ(clusters.size(), 1u);
  EXPECT_EQ(clusters[0].lead, 0u);
  EXPECT_EQ(clusters[0].members.size(), 100u);
}

TEST(RankLists, AreWrittenAsScalaTraceDoes) {
  base::NestedRuns ranks;
  for (const int r : {0, 1, 4, 5, 8, 9, 12, 13}) ranks.append(r);
  const auto lists = rank_lists(ranks);
  ASSERT_EQ(lists.size(), 1u);
  EXPECT_EQ(lists[0].to_string(), "<2 0 4 4 2 1>");
  base::NestedRuns one;
  one.append(5);
  EXPECT_EQ(rank_lists(one)[0].to_string(), "<0 5>");
}

TEST(RankLists, HaveEveryRankOnce) {
  std::mt19937_64 random(6);
  for (int round = 0; round < 200; ++round) {
    std::set<int64_t> ranks;
    for (size_t i = 0; i < 1 + random() % 60; ++i)
      ranks.insert(static_cast<int64_t>(random() % 80));
    base::NestedRuns runs;
    for (const int64_t r : ranks) runs.append(r);
    std::multiset<int64_t> found;
    for (const RankList& list : rank_lists(runs)) {
      std::vector<int64_t> all = {list.first};
      for (const RankList::Dimension& d : list.dimensions) {
        std::vector<int64_t> more;
        for (const int64_t r : all)
          for (uint64_t i = 0; i < d.count; ++i)
            more.push_back(r + static_cast<int64_t>(i) * d.stride);
        all = std::move(more);
      }
      found.insert(all.begin(), all.end());
    }
    EXPECT_EQ(found, std::multiset<int64_t>(ranks.begin(), ranks.end()));
  }
}

}  // namespace
}  // namespace refrain::similarity
