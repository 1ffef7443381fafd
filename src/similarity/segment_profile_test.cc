#include "similarity/segment_profile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <set>

#include "similarity/distance.h"

namespace refrain::similarity {
namespace {

using Stamps = std::vector<double>;

struct Segment {
  uint32_t context;
  uint64_t structure;
  int64_t start_ns;
  Stamps stamps;
};
using History = std::vector<Segment>;

SegmentProfile profile_of(const History& run, uint32_t rank, const MethodSpec& method) {
  StoreOptions options;
  options.method = method;
  SegmentProfileBuilder builder;
  SegmentStore store(options, &builder);
  for (const Segment& s : run) store.match({s.context, s.structure, s.start_ns, s.stamps});
  return builder.finish(store, rank);
}

History steps(double work, double wait, int count = 10, uint64_t structure = 7) {
  History run;
  for (int i = 0; i < count; ++i)
    run.push_back(
        {1, structure, static_cast<int64_t>((work + wait) * i), {work, work + wait, work + wait}});
  return run;
}

UniteOptions with(const MethodSpec& method, Uniting uniting = Uniting::kGroups) {
  UniteOptions options;
  options.method = method;
  options.uniting = uniting;
  return options;
}

TEST(SegmentProfile, RanksAlikeAreAGroup) {
  const MethodSpec method = default_spec(Method::kEuclidean);
  SegmentProfile all = profile_of(steps(1e6, 1e5), 0, method);
  unite(&all, profile_of(steps(1.1e6, 1e5), 1, method), with(method));
  unite(&all, profile_of(steps(5e6, 1e5), 2, method), with(method));
  ASSERT_EQ(all.groups.size(), 2u);
  EXPECT_EQ(all.groups[0].members.size(), 2u);
  EXPECT_EQ(all.segments.size(), 2u);
  // The first one stays the representative.
  EXPECT_EQ(all.segments[0].stamps, (Stamps{1e6, 1.1e6, 1.1e6}));
  EXPECT_EQ(all.segments[0].error_ns, 1e5);
  EXPECT_EQ(all.segments[0].instances, 20u);
  // Each rank keeps its starts.
  EXPECT_EQ(all.groups[0].members[1].rank, 1u);
  EXPECT_EQ(all.groups[0].members[1].starts_ns[3], 3600000);
  const InterMatches inter = inter_matches(all, Uniting::kGroups);
  EXPECT_EQ(inter.found, 1u);
  EXPECT_EQ(inter.possible, 2u);
  EXPECT_DOUBLE_EQ(degree_of_matching(all, inter), (27.0 + 1) / (27 + 2));
}

TEST(SegmentProfile, TheThresholdBetweenProcessesIsTheSecondOne) {
  for (const auto& [text, groups] :
       {std::pair("Chebyshev:0.01:0.3", 1u), std::pair("Chebyshev:0.3:0.01", 2u)}) {
    const MethodSpec method = *parse_method(text);
    SegmentProfile all = profile_of(steps(1e6, 1e5), 0, method);
    unite(&all, profile_of(steps(1.2e6, 1e5), 1, method), with(method));
    EXPECT_EQ(all.groups.size(), groups) << text;
  }
}

TEST(SegmentProfile, OtherStructuresAreOtherGroups) {
  const MethodSpec method = default_spec(Method::kChebyshev);
  SegmentProfile all = profile_of(steps(1e6, 1e5, 10, 7), 0, method);
  unite(&all, profile_of(steps(1e6, 1e5, 10, 8), 1, method), with(method));
  unite(&all, profile_of(steps(1e6, 1e5, 9, 7), 2, method), with(method));
  EXPECT_EQ(all.groups.size(), 3u);
  EXPECT_EQ(inter_matches(all, Uniting::kGroups).possible, 0u);
}

TEST(SegmentProfile, IterationMethodsDoNotMatchBetweenProcesses) {
  for (const Method m : {Method::kIterK, Method::kIterAvg}) {
    SegmentProfile all = profile_of(steps(1e6, 1e5), 0, default_spec(m));
    for (const Uniting u : {Uniting::kGroups, Uniting::kRepresentatives})
      unite(&all, profile_of(steps(1e6, 1e5), 1, default_spec(m)), with(default_spec(m), u));
    EXPECT_EQ(all.groups.size(), 3u);
  }
}

TEST(SegmentProfile, RepresentativesAreSharedOneByOne) {
  const MethodSpec method = default_spec(Method::kChebyshev);
  History a = steps(1e6, 1e5, 5);
  History b = a;
  b[2].stamps = {3e6, 3.1e6, 3.1e6};  // one iteration that no other rank has
  const UniteOptions options = with(method, Uniting::kRepresentatives);
  SegmentProfile all = profile_of(a, 0, method);
  unite(&all, profile_of(b, 1, method), options);
  unite(&all, profile_of(a, 2, method), options);
  EXPECT_EQ(all.segments.size(), 2u);
  ASSERT_EQ(all.groups.size(), 2u);
  EXPECT_EQ(all.groups[1].sequence, (std::vector<uint32_t>{0, 0, 1, 0, 0}));
  EXPECT_EQ(inter_matches(all, Uniting::kRepresentatives).found, 2u);
  EXPECT_EQ(inter_matches(all, Uniting::kRepresentatives).possible, 3u);
}

// Ranks with three kinds of segments, noise, and now and then an iteration that is different.
History random_run(uint64_t seed, bool odd) {
  std::mt19937_64 random(seed);
  History run;
  int64_t start = 0;
  for (int i = 0; i < 60; ++i) {
    const auto kind = static_cast<uint32_t>(i % 3);
    Stamps stamps(3 + 2 * kind);
    double at = 0;
    for (double& s : stamps)
      s = at += std::round((odd ? 1.1e5 : 1e5) * (1 + static_cast<double>(random() % 100) / 400) *
                           (random() % 50 == 0 ? 3 : 1));
    run.push_back({kind, 100 + kind, start, stamps});
    start += static_cast<int64_t>(at) + static_cast<int64_t>(random() % 100);
  }
  return run;
}

void check_whole(const SegmentProfile& all, const std::vector<History>& runs, double allowed) {
  std::set<uint32_t> ranks;
  std::map<uint32_t, uint64_t> instances;
  for (const ProcessGroup& g : all.groups) {
    for (const GroupMember& member : g.members) {
      EXPECT_TRUE(ranks.insert(member.rank).second) << "rank in two groups";
      const History& run = runs[member.rank];
      size_t i = 0;
      rebuild(all, g, member, [&](const SegmentView& s) {
        ASSERT_LT(i, run.size());
        EXPECT_EQ(s.start_ns, run[i].start_ns);
        EXPECT_EQ(s.context, run[i].context);
        EXPECT_EQ(s.structure, run[i].structure);
        const ProfileSegment& r = all.segments[g.sequence[i]];
        const double error = largest_difference(s.stamps, run[i].stamps);
        EXPECT_LE(error, r.error_ns + 1e-6);
        EXPECT_LE(error / run[i].stamps.back(), r.relative_error + 1e-12);
        EXPECT_LE(error / run[i].stamps.back(), allowed);
        ++instances[g.sequence[i]];
        ++i;
      });
      EXPECT_EQ(i, run.size());
    }
  }
  EXPECT_EQ(ranks.size(), runs.size());
  for (const auto& [id, count] : instances) EXPECT_EQ(all.segments[id].instances, count);
  EXPECT_EQ(instances.size(), all.segments.size());
}

// In a binomial tree, from the left, and from the right: nothing is lost, and bounds hold.
TEST(SegmentProfile, AnyTreeKeepsEverythingWithinBounds) {
  constexpr uint32_t kRanks = 16;
  std::vector<History> runs;
  for (uint32_t r = 0; r < kRanks; ++r) runs.push_back(random_run(r, r % 5 == 0));
  for (int m = 0; m < kMethodCount; ++m) {
    const MethodSpec method = default_spec(static_cast<Method>(m));
    SCOPED_TRACE(method_name(method.method));
    const bool is_auto = method.method == Method::kAuto;
    const double allowed = is_auto ? 0.1 + 0.05 + 0.02 : 10;
    for (const Uniting uniting : {Uniting::kGroups, Uniting::kRepresentatives}) {
      const UniteOptions options = with(method, uniting);
      for (int tree = 0; tree < 3; ++tree) {
        std::vector<SegmentProfile> parts;
        for (uint32_t r = 0; r < kRanks; ++r) parts.push_back(profile_of(runs[r], r, method));
        if (tree == 0) {
          for (uint32_t step = 1; step < kRanks; step *= 2)
            for (uint32_t r = 0; r + step < kRanks; r += 2 * step)
              unite(&parts[r], std::move(parts[r + step]), options);
        } else if (tree == 1) {
          for (uint32_t r = 1; r < kRanks; ++r) unite(&parts[0], std::move(parts[r]), options);
        } else {
          for (uint32_t r = kRanks - 1; r > 0; --r)
            unite(&parts[r - 1], std::move(parts[r]), options);
        }
        check_whole(parts[0], runs, allowed);
        EXPECT_EQ(parts[0].ranks, kRanks);
        const InterMatches inter = inter_matches(parts[0], uniting);
        EXPECT_LE(inter.found, inter.possible);
      }
    }
  }
}

// With auto what makes ranks differ may be what the list of segments says anyway.
TEST(SegmentProfile, AnElasticIntervalIsExactOnEveryRank) {
  const MethodSpec method = default_spec(Method::kAuto);
  std::vector<History> runs;
  for (uint32_t r = 0; r < 8; ++r) runs.push_back(steps(r % 3 == 0 ? 1e7 : 1e8, 1e6));
  SegmentProfile all = profile_of(runs[0], 0, method);
  // Two durations differ: that is another representative.
  runs.push_back(steps(5e6, 5e6));
  for (uint32_t r = 1; r < 9; ++r) {
    // One rank alone knows nothing elastic, so that its only one is where it varies.
    runs[r][0].stamps[0] += 1e6;
    runs[r][0].stamps[1] += 1e6;
    runs[r][0].stamps[2] += 1e6;
    unite(&all, profile_of(runs[r], r, method), with(method));
  }
  check_whole(all, runs, 1e-9);
  EXPECT_EQ(all.segments.size(), 3u);
}

// Where kinds of ranks are far apart, every tree finds the same groups.
TEST(SegmentProfile, ClearGroupsDoNotDependOnTheTree) {
  for (const char* text : {"relDiff:0.3:0.3", "absDiff", "Manhattan", "Euclidean", "Chebyshev",
                           "avgWave", "haarWave"}) {
    const MethodSpec method = *parse_method(text);
    for (const bool from_left : {true, false}) {
      std::vector<SegmentProfile> parts;
      for (uint32_t r = 0; r < 8; ++r)
        parts.push_back(profile_of(steps(r % 3 == 0 ? 1e7 : 1e8, 1e6 + r), r, method));
      for (uint32_t i = 1; i < 8; ++i) {
        if (from_left) {
          unite(&parts[0], std::move(parts[i]), with(method));
        } else {
          unite(&parts[7 - i], std::move(parts[8 - i]), with(method));
        }
      }
      ASSERT_EQ(parts[0].groups.size(), 2u) << text;
      EXPECT_EQ(parts[0].groups[0].members.size(), 3u) << text;
    }
  }
}

}  // namespace
}  // namespace refrain::similarity
