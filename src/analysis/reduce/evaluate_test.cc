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

// Two ranks of which each computes long where the other one allocates memory for long: nobody waits
// longer than from noise. With the first iteration for all, or the mean of two of them, the waiting
// is right, and who computes is not.
TestRun swapped_computation() {
  TestRun run(2, 1);
  for (int i = 0; i < 60; ++i) {
    for (uint64_t r = 0; r < 2; ++r) {
      const double work_ns = (r == 0) == (i % 4 == 0) ? 3e6 : 1e6;
      run.work(r, work_ns);
      run.allocate(r, 4e6 - work_ns);
    }
    run.barrier();
  }
  return run;
}

TEST(Evaluate, SwappedComputationIsATrendLost) {
  TestRun run = swapped_computation();
  const Trace full = open_as_file(run);
  EvaluateOptions options;
  options.methods = {similarity::parse_method("iter_k:1").value(),
                     similarity::parse_method("iter_k:60").value(),
                     similarity::parse_method("auto").value()};
  options.scopes = {Scope::kIntra};
  const auto result = evaluate(full, options);
  ASSERT_TRUE(result.ok()) << result.error().to_string();
  const Retention& first = result->verdicts[0].retention;
  for (const Trend& t : first.trends)
    EXPECT_TRUE(t.measure != Measure::kWait || t.kept()) << trend_name(t);
  const auto computation = std::find_if(
      first.trends.begin(), first.trends.end(),
      [](const Trend& t) { return trend_name(t) == "computation before MPI_Alloc_mem"; });
  ASSERT_NE(computation, first.trends.end());
  // 15 iterations of 3 ms and 45 of 1 ms, and the other way round; of one iteration 60 times.
  ASSERT_EQ(computation->ranks.size(), 2u);
  EXPECT_NEAR(static_cast<double>(computation->ranks[0].full_ns), 90e6, 5e6);
  EXPECT_NEAR(static_cast<double>(computation->ranks[1].full_ns), 150e6, 5e6);
  EXPECT_NEAR(static_cast<double>(computation->ranks[0].rebuilt_ns), 180e6, 10e6);
  EXPECT_NEAR(static_cast<double>(computation->ranks[1].rebuilt_ns), 60e6, 10e6);
  EXPECT_FALSE(computation->kept());
  EXPECT_FALSE(first.retained());
  EXPECT_TRUE(result->verdicts[1].retention.retained()) << result->verdicts[1].retention.lost;
  EXPECT_TRUE(result->verdicts[2].retention.retained()) << result->verdicts[2].retention.lost;
}

// In `inter` it is the threshold across ranks that decides, and only that one.
TEST(Evaluate, ThresholdsAreThoseThatWereUsed) {
  TestRun run = test_run("imbalance_at_barrier", 4, 10);
  const Trace full = open_as_file(run);
  EvaluateOptions options;
  options.methods = {similarity::parse_method("avgWave").value(),
                     similarity::parse_method("absDiff:50us:70us").value()};
  const auto result = evaluate(full, options);
  ASSERT_TRUE(result.ok()) << result.error().to_string();
  std::vector<std::string> said;
  for (const Verdict& v : result->verdicts) {
    said.push_back(std::string(scope_name(v.scope)) + " " + v.method);
    EXPECT_EQ(v.threshold.has_value(), v.scope != Scope::kInter);
    EXPECT_EQ(v.inter_threshold.has_value(), v.scope != Scope::kIntra);
  }
  EXPECT_EQ(said, (std::vector<std::string>{"intra avgWave:0.2", "intra absDiff:50",
                                            "inter avgWave:0.4", "inter absDiff:70",
                                            "combined avgWave:0.2", "combined absDiff:50:70"}));
  EXPECT_DOUBLE_EQ(*result->verdicts[3].inter_threshold, 70);
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
