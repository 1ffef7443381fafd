// When trends are retained.
#include "analysis/reduce/retention.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/reduce/test_runs.h"
#include "format/encode/encode.h"
#include "mpi/call_table.h"
#include "reader/test_trace.h"

namespace refrain::analysis::reduce {
namespace {

using waits::Pattern;
using waits::WaitStates;

constexpr uint64_t kMs = 1'000'000;

// Waits of one place by rank, of ranks that ran a second each.
Diagnosis waits_with(std::vector<std::vector<uint64_t>> by_pattern) {
  constexpr Pattern kPatterns[] = {Pattern::kWaitAtBarrier, Pattern::kLateSender};
  Diagnosis found;
  WaitStates& out = found.waits;
  for (size_t p = 0; p < by_pattern.size(); ++p)
    for (size_t r = 0; r < by_pattern[p].size(); ++r)
      if (by_pattern[p][r] > 0)
        out.severities.push_back({kPatterns[p], static_cast<DefinitionId>(7 + p), 1,
                                  static_cast<Rank>(r), by_pattern[p][r] * kMs, 1});
  out.total_ns = 4e9;
  return found;
}

Retention compare(const std::vector<std::vector<uint64_t>>& full,
                  const std::vector<std::vector<uint64_t>>& rebuilt) {
  return compare_trends(waits_with(full), waits_with(rebuilt), {});
}

TEST(Retention, WhatIsTheSameIsRetained) {
  const Retention same = compare({{100, 0, 100, 100}}, {{100, 0, 100, 100}});
  EXPECT_TRUE(same.retained());
  EXPECT_DOUBLE_EQ(same.score, 1);
  ASSERT_EQ(same.trends.size(), 1u);
  EXPECT_EQ(same.trends[0].full_ns, 300 * kMs);
  // 10 % of the severity, 15 % of the longest wait of a rank.
  EXPECT_TRUE(compare({{100, 0, 100, 100}}, {{110, 0, 92, 108}}).retained());
  EXPECT_TRUE(compare({{100, 0, 100, 100}}, {{114, 0, 100, 86}}).retained());
}

TEST(Retention, EachThingThatIsLostHasItsName) {
  EXPECT_EQ(compare({{100, 0, 100, 100}}, {{80, 0, 80, 80}}).lost, "wait_at_barrier: too short");
  EXPECT_EQ(compare({{100, 0, 100, 100}}, {{120, 0, 120, 120}}).lost, "wait_at_barrier: too long");
  EXPECT_EQ(compare({{100, 0, 100, 100}}, {{120, 0, 100, 80}}).lost,
            "wait_at_barrier: rank 0 differs");
  EXPECT_EQ(compare({{100, 0, 100, 100}}, {{100, 100, 0, 100}}).lost,
            "wait_at_barrier: other ranks");
  EXPECT_EQ(compare({{100, 0, 100, 100}}, {{0, 0, 0, 0}, {0, 300, 0, 0}}).lost,
            "another wait is the longest");
  EXPECT_EQ(compare({{100, 0, 100, 100}}, {{100, 0, 100, 100}, {0, 0, 60, 0}}).lost,
            "late_sender: not in the full trace");
  EXPECT_EQ(compare({{100, 0, 100, 100}, {60, 0, 0, 0}}, {{100, 0, 100, 100}}).lost,
            "late_sender: gone");
  EXPECT_NEAR(compare({{100, 0, 100, 100}}, {{50, 0, 100, 100}}).score, 1 - 50.0 / 300, 1e-12);
}

TEST(Retention, WhatNobodySeesIsNoTrend) {
  // 1 % of the time of all ranks is 40 ms.
  const Retention little = compare({{10, 0, 0, 0}}, {{0, 0, 0, 25}});
  EXPECT_TRUE(little.retained());
  EXPECT_TRUE(little.trends.empty());
  EXPECT_DOUBLE_EQ(little.score, 0);
  EXPECT_DOUBLE_EQ(compare({}, {}).score, 1);
  // Just over the limit in one of them only.
  EXPECT_TRUE(compare({{38, 0, 0, 0}}, {{41, 0, 0, 0}}).retained());
}

TEST(Retention, OrderLostIsTrendsLost) {
  Diagnosis full = waits_with({{100}}), rebuilt = full;
  rebuilt.waits.counts.negative_durations = 3;
  EXPECT_EQ(compare_trends(full, rebuilt, {}).lost, "calls out of order");
  full.waits.counts.negative_durations = 3;
  EXPECT_TRUE(compare_trends(full, rebuilt, {}).retained());
}

// Computation before one call by rank, of four ranks that ran a second each.
Retention compute(const std::vector<uint64_t>& full, const std::vector<uint64_t>& rebuilt,
                  Measure measure = Measure::kComputation) {
  const CallId barrier = mpi::find_call("MPI_Barrier")->id;
  const auto with = [&](const std::vector<uint64_t>& ms) {
    Diagnosis found = waits_with({});
    for (size_t r = 0; r < ms.size(); ++r)
      if (ms[r] > 0)
        found.activities.push_back({measure, 7, barrier, static_cast<Rank>(r), ms[r] * kMs});
    return found;
  };
  return compare_trends(with(full), with(rebuilt), {});
}

TEST(Retention, ComputationOfRanksIsLookedAt) {
  EXPECT_TRUE(compute({500, 500, 500, 500}, {520, 480, 500, 500}).retained());
  EXPECT_DOUBLE_EQ(compute({500, 500, 500, 500}, {500, 500, 500, 500}).time_score, 1);
  // As large a sum, on other ranks.
  EXPECT_EQ(compute({900, 300, 300, 300}, {300, 900, 300, 300}).lost,
            "computation before MPI_Barrier: other ranks");
  EXPECT_EQ(compute({900, 700, 700, 700}, {700, 900, 700, 700}).lost,
            "computation before MPI_Barrier: rank 0 differs");
  EXPECT_EQ(compute({500, 500, 500, 500}, {400, 400, 400, 400}).lost,
            "computation before MPI_Barrier: too short");
  EXPECT_EQ(compute({500, 500, 500, 500}, {}).lost, "computation before MPI_Barrier: gone");
  EXPECT_EQ(compute({}, {30, 0, 0, 30}).lost,
            "computation before MPI_Barrier: not in the full trace");
  EXPECT_TRUE(compute({9, 9, 9, 9}, {}).retained()) << "below 1 % of the time";
}

// Each rank is within 15 % of the longest, and the sum is right.
TEST(Retention, WhoComputesMoreIsLookedAt) {
  EXPECT_EQ(compute({800, 700, 700, 700}, {700, 700, 700, 800}).lost,
            "computation before MPI_Barrier: ranks differ otherwise");
  EXPECT_EQ(compute({800, 700, 700, 700}, {725, 725, 725, 725}).lost,
            "computation before MPI_Barrier: ranks differ otherwise");
  EXPECT_TRUE(compute({800, 700, 700, 700}, {790, 710, 700, 690}).retained());
  // Differences within the tolerance are noise; of time in calls that is not asked.
  EXPECT_TRUE(compute({800, 730, 730, 730}, {730, 730, 730, 800}).retained());
  EXPECT_TRUE(compute({800, 700, 700, 700}, {725, 725, 725, 725}, Measure::kMpi).retained());
}

TEST(Retention, TimeInCallsIsLookedAt) {
  EXPECT_EQ(compute({900, 300, 300, 300}, {300, 900, 300, 300}, Measure::kMpi).lost,
            "time in MPI_Barrier: other ranks");
  EXPECT_EQ(compute({100, 100, 100, 100}, {200, 200, 200, 200}, Measure::kMpi).lost,
            "time in MPI_Barrier: too long");
}

// Against the calls, one by one, as they were put in: without the tree of places. On rank 1 some of
// what lies between two calls is the recorder's work.
TEST(Activities, AreSumsOverCalls) {
  constexpr uint64_t kOwnNs = 50;
  for (const std::string& name : test_run_names()) {
    TestRun run = test_run(name, 4, 20);
    format::TraceData data = run.finish();
    const auto& of_one = run.times(1);
    format::OwnWork own{1, 0, {}};
    for (size_t i = 0; i + 1 < of_one.size(); ++i)
      if (of_one[i + 1].first >= of_one[i].second + kOwnNs) own.pieces.push_back({i, kOwnNs});
    const uint64_t own_ns = own.pieces.size() * kOwnNs;
    ASSERT_GT(own_ns, 0U) << name;
    data.totals[1].own_ns = own_ns;
    data.own_work = {own};
    const auto bytes = format::encode(data);
    ASSERT_TRUE(bytes.ok());
    const Trace trace = Trace::from_bytes(*bytes, "full.rfn").value();
    const auto found = activities(trace);
    ASSERT_TRUE(found.ok()) << found.error().to_string();
    for (uint64_t rank = 0; rank < run.ranks(); ++rank) {
      uint64_t mpi_ns = 0, computation_ns = 0, mpi_wanted = 0, computation_wanted = 0;
      for (const Activity& a : *found) {
        if (a.rank != static_cast<Rank>(rank)) continue;
        (a.measure == Measure::kMpi ? mpi_ns : computation_ns) += a.ns;
      }
      const auto& times = run.times(rank);
      for (size_t i = 0; i < times.size(); ++i) {
        mpi_wanted += times[i].second - times[i].first;
        if (i > 0) computation_wanted += times[i].first - times[i - 1].second;
      }
      if (rank == 1) computation_wanted -= own_ns;
      EXPECT_EQ(mpi_ns, mpi_wanted) << name;
      EXPECT_EQ(computation_ns, computation_wanted) << name;
    }
  }
}

// 60 ns of the recorder's work are known by their sum only: 20 of each call.
TEST(Activities, HaveNoSmallWorkOfTheRecorder) {
  reader::TraceBuilder builder(1);
  reader::ShapeWriter barrier("MPI_Barrier");
  const uint32_t call = builder.signature(barrier.none().object(builder.world()));
  builder.group({0}, {call, call, call});
  builder.times(0, {{0, 10}, {110, 120}, {220, 230}});
  builder.data().totals[0].own_ns = 60;
  const auto found = activities(builder.open());
  ASSERT_TRUE(found.ok()) << found.error().to_string();
  ASSERT_EQ(found->size(), 2U);
  EXPECT_EQ((*found)[1].measure, Measure::kComputation);
  EXPECT_EQ((*found)[1].ns, 200U - 60);
}

}  // namespace
}  // namespace refrain::analysis::reduce
