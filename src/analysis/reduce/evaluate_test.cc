// What evaluate says of methods, and when trends are retained.
#include "analysis/reduce/evaluate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "analysis/reduce/keep_trends.h"
#include "analysis/reduce/test_runs.h"
#include "format/encode/encode.h"

namespace refrain::analysis::reduce {
namespace {

using waits::Pattern;
using waits::WaitStates;

constexpr uint64_t kMs = 1'000'000;

// Waits of one place by rank, of ranks that ran a second each.
WaitStates waits_with(std::vector<std::vector<uint64_t>> by_pattern) {
  constexpr Pattern kPatterns[] = {Pattern::kWaitAtBarrier, Pattern::kLateSender};
  WaitStates out;
  for (size_t p = 0; p < by_pattern.size(); ++p)
    for (size_t r = 0; r < by_pattern[p].size(); ++r)
      if (by_pattern[p][r] > 0)
        out.severities.push_back({kPatterns[p], static_cast<DefinitionId>(7 + p), 1,
                                  static_cast<Rank>(r), by_pattern[p][r] * kMs, 1});
  out.total_ns = 4e9;
  return out;
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
  WaitStates full = waits_with({{100}}), rebuilt = full;
  rebuilt.counts.negative_durations = 3;
  EXPECT_EQ(compare_trends(full, rebuilt, {}).lost, "calls out of order");
  full.counts.negative_durations = 3;
  EXPECT_TRUE(compare_trends(full, rebuilt, {}).retained());
}

Trace open_as_file(TestRun& run) {
  const auto bytes = format::encode(run.finish());
  EXPECT_TRUE(bytes.ok());
  auto trace = Trace::from_bytes(*bytes, "full.rfn");
  EXPECT_TRUE(trace.ok()) << trace.error().to_string();
  return std::move(*trace);
}

TEST(Evaluate, AllMethodsInAllScopes) {
  TestRun run = test_run("imbalance_at_barrier", 8, 100);
  const Trace full = open_as_file(run);
  const auto result = evaluate(full, {});
  ASSERT_TRUE(result.ok()) << result.error().to_string();
  ASSERT_EQ(result->verdicts.size(), 10u + 8 + 10);
  EXPECT_EQ(result->full_bytes, full.info().file_bytes);
  EXPECT_EQ(result->calls, full.call_count());
  // Seven ranks wait half a millisecond of one and a half.
  EXPECT_NEAR(result->waiting_ns / result->total_ns, 7.0 / 8 / 3, 0.02);
  for (const Verdict& v : result->verdicts) {
    EXPECT_GT(result->percent_of(v), 1) << v.method;
    EXPECT_LT(result->percent_of(v), v.scope == Scope::kInter ? 130 : 101) << v.method;
    EXPECT_GT(result->model_percent_of(v), 1) << v.method;
    EXPECT_EQ(v.retention.negative, 0u) << v.method;
    EXPECT_LE(v.distance_ns, v.largest_ns * 1.04);
    EXPECT_LE(v.largest_ns, static_cast<double>(v.segments.error_ns) + 1);
    EXPECT_GT(v.times_bytes, 0u);
  }
  const auto of = [&](const char* method, Scope scope) {
    return *std::find_if(result->verdicts.begin(), result->verdicts.end(), [&](const Verdict& v) {
      return v.method.starts_with(method) && v.scope == scope;
    });
  };
  // Means keep sums.
  EXPECT_TRUE(of("auto", Scope::kIntra).retention.retained());
  EXPECT_TRUE(of("auto", Scope::kCombined).retention.retained());
  EXPECT_TRUE(of("iter_avg", Scope::kIntra).retention.retained());
  EXPECT_DOUBLE_EQ(of("iter_avg", Scope::kIntra).segments.degree_of_matching(), 1);
  // Everything of a rank is kept: no segment is like another one, to the nanosecond.
  EXPECT_EQ(of("auto", Scope::kInter).segments.segments, 8u * 102);
}

TEST(Evaluate, AnExactReductionIsWithoutLoss) {
  for (const std::string& name : test_run_names()) {
    TestRun run = test_run(name, 4, 30);
    const Trace full = open_as_file(run);
    EvaluateOptions options;
    options.methods = {similarity::parse_method("absDiff:0").value()};
    options.scopes = {Scope::kIntra};
    const auto result = evaluate(full, options);
    ASSERT_TRUE(result.ok()) << name << result.error().to_string();
    ASSERT_EQ(result->verdicts.size(), 1u);
    EXPECT_DOUBLE_EQ(result->verdicts[0].distance_ns, 0);
    EXPECT_DOUBLE_EQ(result->verdicts[0].retention.score, 1) << name;
    EXPECT_TRUE(result->verdicts[0].retention.retained()) << name;
  }
}

// A representative that is right once is wrong where the load changes.
TEST(Evaluate, TrendsCanBeLost) {
  TestRun run = test_run("dynamic_load_balance", 8, 100);
  const Trace full = open_as_file(run);
  EvaluateOptions options;
  options.methods = {similarity::parse_method("relDiff:1").value(),
                     similarity::parse_method("auto").value()};
  options.scopes = {Scope::kIntra};
  const auto result = evaluate(full, options);
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result->verdicts[0].retention.retained());
  EXPECT_TRUE(result->verdicts[1].retention.retained()) << result->verdicts[1].retention.lost;
}

// Waiting from noise alone, at the barrier of late_sender, is lost with a large error, kept with a
// small one: auto without a threshold finds out, auto with one does as it is told.
TEST(KeepTrends, TheLoosestThresholdThatDoes) {
  TestRun run = test_run("late_sender", 8, 100);
  const Trace full = open_as_file(run);
  RetentionOptions retention;
  retention.least_share = 0.005;
  ReduceOptions how;
  how.method = similarity::parse_method("auto:0.1").value();
  const auto fixed = reduce_keeping_trends(full, how, retention);
  ASSERT_TRUE(fixed.ok()) << fixed.error().to_string();
  EXPECT_EQ(fixed->attempts, 0u);
  how.method = similarity::parse_method("auto").value();
  const auto kept = reduce_keeping_trends(full, how, retention);
  ASSERT_TRUE(kept.ok()) << kept.error().to_string();
  EXPECT_EQ(kept->lost, "");
  EXPECT_GT(kept->attempts, 1u);
  EXPECT_LT(kept->attempts, 5u);
  EvaluateOptions options;
  options.retention = retention;
  const auto rebuilt_of = [&](const Reduction& reduction) {
    return Trace::from_bytes(encode(full, reduction).value(), "reduced.rfn").value();
  };
  const auto verdicts = evaluate(full, {rebuilt_of(*fixed), rebuilt_of(*kept)}, options)->verdicts;
  EXPECT_FALSE(verdicts[0].retention.retained());
  EXPECT_TRUE(verdicts[1].retention.retained());
  EXPECT_LT(verdicts[0].file_bytes, verdicts[1].file_bytes);
  // evaluate() says it of the same threshold, and that with others is what it is.
  options.methods = {how.method, similarity::parse_method("auto:0.1").value()};
  options.scopes = {Scope::kCombined};
  const auto said = evaluate(full, options)->verdicts;
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[0].method, kept->times.index.spec.method);
  EXPECT_EQ(said[0].file_bytes, verdicts[1].file_bytes);
  EXPECT_FALSE(said[1].retention.retained());
}

// Where nothing helps the last attempt stays, and says what is lost.
TEST(KeepTrends, NothingHelps) {
  TestRun run = test_run("late_sender", 8, 50);
  const Trace full = open_as_file(run);
  RetentionOptions retention;
  retention.tolerance = 0;
  retention.least_share = 0;
  ReduceOptions how;
  how.method = similarity::parse_method("auto").value();
  const auto kept = reduce_keeping_trends(full, how, retention);
  ASSERT_TRUE(kept.ok()) << kept.error().to_string();
  EXPECT_EQ(kept->attempts, 4u);
  EXPECT_NE(kept->lost, "");
  EXPECT_EQ(kept->times.index.spec.method, "auto:0.003:0.0015");
}

TEST(Evaluate, ATraceThatWasReducedBefore) {
  TestRun run = test_run("late_sender", 4, 50);
  const Trace full = open_as_file(run);
  ReduceOptions how;
  how.method = similarity::parse_method("avgWave").value();
  how.across = format::AcrossRanks::kOff;
  const auto bytes = encode(full, reduce(full, how).value());
  const Trace reduced = Trace::from_bytes(*bytes, "reduced.rfn").value();
  const auto result = evaluate(full, {reduced}, {});
  ASSERT_TRUE(result.ok()) << result.error().to_string();
  EvaluateOptions options;
  options.methods = {how.method};
  options.scopes = {Scope::kIntra};
  const auto again = evaluate(full, options);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(result->verdicts[0].method, "avgWave:0.2");
  EXPECT_EQ(result->verdicts[0].file_bytes, again->verdicts[0].file_bytes);
  EXPECT_EQ(result->verdicts[0].distance_ns, again->verdicts[0].distance_ns);
  EXPECT_EQ(result->verdicts[0].retention.score, again->verdicts[0].retention.score);
  // Of another run, or without anything to compare with.
  TestRun other = test_run("late_sender", 4, 51);
  const auto wrong = evaluate(open_as_file(other), {reduced}, {});
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().code, base::ErrorCode::kUsage);
  EXPECT_EQ(evaluate(reduced, {}).error().code, base::ErrorCode::kUsage);
}

}  // namespace
}  // namespace refrain::analysis::reduce
