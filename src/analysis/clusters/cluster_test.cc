// Clusters of meshes, whose kinds of ranks are known, and the traces that are made of them.

#include "analysis/clusters/cluster.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "analysis/clusters/lead_endpoints.h"
#include "analysis/clusters/matching.h"
#include "analysis/clusters/mesh_names.h"
#include "analysis/clusters/test_mesh.h"
#include "analysis/clusters/written_clusters.h"
#include "reader/verify/verify_times.h"
#include "refrain/calls.h"

namespace refrain::analysis::clusters {
namespace {

using format::ClusterChoice;
using format::ClusterMethod;

std::multiset<uint64_t> sizes(const format::ClusterData& data) {
  std::multiset<uint64_t> out;
  for (const format::Cluster& c : data.clusters) out.insert(c.members.size());
  return out;
}

const std::multiset<uint64_t> kNine = {1, 1, 1, 1, 3, 3, 4, 4, 12};  // of 6 x 5

using Times = std::vector<std::pair<uint64_t, uint64_t>>;
Times times(const Trace& trace, Rank rank) {
  Times out;
  RankReader reader(trace, rank, refrain::Times::kRead);
  const Status read = reader.for_each_call(0, [&](const Call& call) {
    if (call.has_time) out.emplace_back(call.begin_ns, call.end_ns);
    return true;
  });
  EXPECT_TRUE(read.ok());
  return out;
}

TEST(FindClusters, AMeshIsNineWhateverTheMethod) {
  const Trace trace = TestMesh{}.build().open();
  for (const ClusterMethod method : {ClusterMethod::kSignatures, ClusterMethod::kReference,
                                     ClusterMethod::kTwoSignature, ClusterMethod::kHierarchical}) {
    for (const bool flag : {false, true}) {
      const FoundClusters f = found(
          trace,
          {.method = method, .has_two_steps = flag, .is_euclidean = flag, .is_by_tree = flag});
      EXPECT_EQ(sizes(f.data), kNine) << static_cast<int>(method);
      EXPECT_EQ(f.stood_for, 21u);
      EXPECT_TRUE(f.data.is_replayable);
    }
  }
  EXPECT_EQ(found(trace, {.method = ClusterMethod::kNone}).data.clusters.size(), 30u);
}

TEST(FindClusters, SumsAreThoseOfTheMembers) {
  const Trace trace = TestMesh{.has_times = true}.build().open();
  const FoundClusters f = found(trace, {});
  uint64_t calls = 0, ranks = 0, in_mpi = 0;
  for (const format::Cluster& c : f.data.clusters) {
    calls += c.calls, ranks += c.members.size(), in_mpi += c.in_mpi_ns;
    // Ranks differ in their times by 6 ns of a call at most, and by nothing else.
    for (size_t i = 0; i < c.radius.size(); ++i)
      EXPECT_LE(c.radius[i],
                i == static_cast<size_t>(similarity::RankFeature::kCommunication) ? 6u : 0u);
  }
  EXPECT_EQ(calls, trace.call_count());
  EXPECT_EQ(ranks, 30u);
  uint64_t expected = 0;
  for (uint64_t r = 0; r < 30; ++r) expected += 81 * (1000 + r % 7);
  EXPECT_EQ(in_mpi, expected);
}

TEST(FindClusters, LessThanTheStructuresIsRaisedUnlessTheyAreMixed) {
  const Trace trace = TestMesh{}.build().open();
  const FoundClusters raised = found(trace, {.k = 4});
  EXPECT_EQ(raised.raised_from, 4u);
  EXPECT_EQ(raised.data.clusters.size(), 9u);
  const FoundClusters mixed = found(trace, {.k = 4, .mixes_structures = true});
  EXPECT_EQ(mixed.raised_from, 0u);
  EXPECT_EQ(mixed.data.clusters.size(), 4u);
  EXPECT_FALSE(mixed.data.is_replayable);
  EXPECT_NE(mixed.data.why_not, "");
  const FoundClusters kinds = found(trace, {.choice = ClusterChoice::kKinds});
  EXPECT_EQ(sizes(kinds.data), kNine);
  EXPECT_EQ(kinds.structures, 9u);
}

TEST(FindClusters, BadNumbersAndClusteredTracesAreRefused) {
  const Trace trace = TestMesh{}.build().open();
  for (const uint64_t k : {0, 31}) {
    const auto out = find(trace, {.k = k});
    ASSERT_FALSE(out.ok());
    EXPECT_EQ(out.error().code, base::ErrorCode::kUsage);
  }
  const Trace once = written(trace, found(trace, {}));
  const auto twice = find(once, {});
  ASSERT_FALSE(twice.ok());
  EXPECT_EQ(twice.error().code, base::ErrorCode::kUsage);
}

TEST(ClusteredTrace, MembersShowTimesOfLeadsAndKeepTheirCalls) {
  const Trace trace = TestMesh{.has_times = true}.build().open();
  const FoundClusters f = found(trace, {});
  const Trace back = written(trace, f);
  EXPECT_LT(back.time_size()->calls, trace.time_size()->calls);
  EXPECT_EQ(back.time_size()->calls, 9u * 81);
  ASSERT_TRUE(back.clustering());
  EXPECT_EQ(back.clustering()->list.size(), 9u);
  for (Rank r = 0; r < trace.rank_count(); ++r) {
    const Rank lead = back.lead_of(r);
    EXPECT_EQ(times(back, r), times(trace, lead)) << r;
    RankReader mine(trace, r), its(back, r);
    auto a = mine.cursor(0), b = its.cursor(0);
    while (const Call* call = a->next()) {
      const Call* other = b->next();
      ASSERT_NE(other, nullptr);
      ASSERT_EQ(call->signature->args.size(), other->signature->args.size());
      for (size_t i = 0; i < call->signature->args.size(); ++i)
        ASSERT_EQ(call->signature->args[i].value, other->signature->args[i].value);
    }
  }
  const auto match = matching(trace, back);
  ASSERT_TRUE(match.ok());
  for (size_t i = 0; i < kCompared; ++i) EXPECT_EQ(match->share(static_cast<Compared>(i)), 1) << i;
  EXPECT_GT(match->all[static_cast<size_t>(Compared::kSource)], 1000u);
  const auto& losses = back.info().losses;
  EXPECT_TRUE(std::any_of(losses.begin(), losses.end(), [](const Loss& l) {
    return l.reason == "stood_for" && l.calls == 21 * 81;
  }));
}

TEST(ClusteredTrace, MixedMembersHaveNoTimes) {
  const Trace trace = TestMesh{.skips_borders = true, .has_times = true}.build().open();
  const FoundClusters f = found(trace, {.k = 2, .mixes_structures = true});
  const Trace back = written(trace, f);
  size_t without = 0;
  for (Rank r = 0; r < trace.rank_count(); ++r) {
    const Rank of = back.times_rank(r);
    if (of < 0) {
      ++without;
      EXPECT_TRUE(times(back, r).empty());
    } else {
      EXPECT_EQ(times(back, r), times(trace, of));
    }
  }
  EXPECT_GT(without, 0u);
}

TEST(ClusteredTrace, LeadEndpointsOfAMeshPairAndEqualTheOriginal) {
  for (const bool skips : {false, true}) {
    const Trace trace = TestMesh{.skips_borders = skips, .has_times = true}.build().open();
    EXPECT_EQ(unpaired_messages(trace).messages, 0u);
    EXPECT_GT(unpaired_messages(trace).of, 0u);
    const FoundClusters f = found(trace, {.has_lead_endpoints = true});
    const Trace back = written(trace, f);
    EXPECT_EQ(back.group_count(), 9u);
    EXPECT_TRUE(back.clustering()->is_replayable) << back.clustering()->why_not;
    const auto match = matching(trace, back);
    ASSERT_TRUE(match.ok());
    for (size_t i = 0; i < kCompared; ++i)
      EXPECT_EQ(match->share(static_cast<Compared>(i)), 1) << i;
    EXPECT_EQ(back.call_count(), trace.call_count());
  }
}

TEST(ClusteredTrace, ThePapersWayLosesEndsWhereKindsAreMixed) {
  const Trace trace = TestMesh{}.build().open();
  const FoundClusters f = found(
      trace, {.k = 3, .is_by_tree = true, .has_lead_endpoints = true, .mixes_structures = true});
  const Trace back = written(trace, f);
  EXPECT_FALSE(back.clustering()->is_replayable);
  const auto match = matching(trace, back);
  ASSERT_TRUE(match.ok());
  EXPECT_LT(match->share(Compared::kDestination), 1);
  EXPECT_GT(match->share(Compared::kDestination), 0.2);
  EXPECT_EQ(match->share(Compared::kCount), 1);
}

TEST(AutoClusters, TakeAsFewAsTheErrorAllows) {
  const Trace trace = TestMesh{.has_times = true, .more_below = 64}.build().open();
  for (const auto metric : {format::ClusterMetric::kReplay, format::ClusterMetric::kProfile,
                            format::ClusterMetric::kWaits}) {
    uint64_t last = 31;
    for (const double error : {0.0001, 0.01, 0.9}) {
      const FoundClusters f =
          found(trace, {.choice = ClusterChoice::kAuto, .error = error, .metric = metric});
      EXPECT_LT(f.data.error_predicted, error);
      if (metric == format::ClusterMetric::kReplay) {
        EXPECT_LE(f.data.error_checked, f.data.error_predicted);
      }
      EXPECT_LT(f.data.error_checked, error * 2);
      EXPECT_LE(f.data.clusters.size(), last);
      EXPECT_LE(f.data.sampled.size(), 16u);
      last = f.data.clusters.size();
      const Trace back = written(trace, f);
      for (uint64_t i = 0; i < f.data.sampled.size(); ++i) {
        const Rank r = f.data.sampled.at(i);
        EXPECT_EQ(times(back, r), times(trace, r));
      }
    }
    EXPECT_EQ(last, 9u);
  }
}

TEST(MeshNames, AreThoseOfPlaces) {
  const Trace trace = TestMesh{}.build().open();
  const FoundClusters f = found(trace, {});
  const auto mesh = mesh_of(trace, f.data.clusters);
  EXPECT_EQ(mesh, (std::vector<uint64_t>{5, 6}));
  std::set<std::string> names;
  for (const format::Cluster& c : f.data.clusters) names.insert(mesh_name(mesh, c.members));
  EXPECT_EQ(names,
            (std::set<std::string>{"interior of 5 x 6", "top edge of 5 x 6", "bottom edge of 5 x 6",
                                   "left edge of 5 x 6", "right edge of 5 x 6",
                                   "top left corner of 5 x 6", "top right corner of 5 x 6",
                                   "bottom left corner of 5 x 6", "bottom right corner of 5 x 6"}));
  base::RunList some;
  for (const int64_t r : {7, 8, 14}) some.append(r);
  EXPECT_EQ(mesh_name(mesh, some), "");
}

}  // namespace
}  // namespace refrain::analysis::clusters
