// Reducing the times of a trace: what comes back, how far from the truth, and what is said of it.
#include "analysis/reduce/reduce.h"
#include "reader/internal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analysis/reduce/segments.h"
#include "analysis/reduce/test_runs.h"
#include "format/decode/decode.h"
#include "format/time/spec.h"
#include "format/trace_data.h"
#include "mpi/call_ids.h"
#include "reader/verify/verify_times.h"
#include "refrain/calls.h"

namespace refrain::analysis::reduce {
namespace {

using format::AcrossRanks;
using format::SegmentSource;
using Pairs = std::vector<std::pair<uint64_t, uint64_t>>;

ReduceOptions options_of(const char* method, AcrossRanks across = AcrossRanks::kOff) {
  ReduceOptions options;
  options.method = similarity::parse_method(method).value();
  options.across = across;
  return options;
}

Pairs times_of(const Trace& trace, Rank rank) {
  Pairs times;
  RankReader reader(trace, rank, Times::kRead);
  const Status walked = reader.for_each_call(0, [&](const Call& call) {
    EXPECT_TRUE(call.has_time) << rank << ' ' << call.seq;
    times.emplace_back(call.begin_ns, call.end_ns);
    return true;
  });
  EXPECT_TRUE(walked.ok());
  return times;
}

uint64_t apart(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

TEST(Reduce, AMethodThatForgivesNothingLosesNothing) {
  for (const std::string& name : test_run_names()) {
    TestRun run = test_run(name, 4, 20);
    run.finish();
    const Trace trace = run.builder().open();
    const auto reduction = reduce(trace, options_of("absDiff:0"));
    ASSERT_TRUE(reduction.ok()) << reduction.error().to_string();
    const auto back = rebuilt(trace, *reduction);
    ASSERT_TRUE(back.ok()) << back.error().to_string();
    for (Rank r = 0; r < 4; ++r) EXPECT_EQ(times_of(*back, r), times_of(trace, r)) << name;
    EXPECT_EQ(reduction->times.index.segments.error_ns, 0u);
  }
}

// Every method, within ranks and across: calls in order, none negative, none further from the truth
// than the trace says.
TEST(Reduce, TimesAreWithinTheErrorThatIsSaid) {
  for (const std::string& name : test_run_names()) {
    TestRun run = test_run(name, 6, 40);
    run.finish();
    const Trace trace = run.builder().open();
    for (const char* method : {"relDiff", "absDiff", "Manhattan", "Euclidean", "Chebyshev",
                               "iter_k", "iter_avg", "avgWave", "haarWave", "auto", "auto:0.3"}) {
      for (const auto across : {AcrossRanks::kOff, AcrossRanks::kGroups, AcrossRanks::kSegments}) {
        const auto reduction = reduce(trace, options_of(method, across));
        ASSERT_TRUE(reduction.ok()) << reduction.error().to_string();
        const auto back = rebuilt(trace, *reduction);
        ASSERT_TRUE(back.ok()) << back.error().to_string();
        EXPECT_TRUE(reader::verify_times(*back, 5).empty()) << name << ' ' << method;
        const format::SegmentInfo& info = reduction->times.index.segments;
        uint64_t worst = 0, starts = 0;
        for (Rank r = 0; r < 6; ++r) {
          const Pairs was = times_of(trace, r), is = times_of(*back, r);
          ASSERT_EQ(was.size(), is.size());
          uint64_t end = 0;
          for (size_t i = 0; i < is.size(); ++i) {
            ASSERT_LE(is[i].first, is[i].second);
            ASSERT_LE(end, is[i].second);
            end = is[i].second;
            worst = std::max(
                {worst, apart(was[i].first, is[i].first), apart(was[i].second, is[i].second)});
          }
          starts += was[0].first;
        }
        EXPECT_LE(worst, info.error_ns + 1) << name << ' ' << method;
        EXPECT_GE(info.degree_of_matching(), 0) << starts;
        EXPECT_LE(info.degree_of_matching(), 1);
        if (across == AcrossRanks::kOff && std::string(method) == "iter_avg") {
          EXPECT_DOUBLE_EQ(info.degree_of_matching(), 1);
        }
      }
    }
  }
}

TEST(Reduce, ByHand) {
  // Three iterations of (barrier, allreduce) between MPI_Init and MPI_Finalize.
  TestRun run(1, 1);
  for (int i = 0; i < 3; ++i) run.barrier(), run.allreduce();
  format::TraceData& data = run.finish();
  data.times = {};
  const Pairs times = {{0, 100},   {150, 200}, {210, 300}, {340, 390},
                       {400, 500}, {560, 600}, {630, 700}, {800, 900}};
  run.builder().times(0, times);
  const Trace trace = run.builder().open();
  const auto reduction = reduce(trace, options_of("iter_k:1"));
  ASSERT_TRUE(reduction.ok());
  const format::SegmentInfo& info = reduction->times.index.segments;
  EXPECT_EQ(info.segments, 5u);
  EXPECT_EQ(info.representatives, 3u);
  EXPECT_EQ(info.matches, 2u);
  EXPECT_EQ(info.possible_matches, 2u);
  // The first iteration took 200 ns from 100 on: 50-100, 110-200. It stands for those at 300 and
  // 500.
  EXPECT_EQ(times_of(*rebuilt(trace, *reduction), 0), (Pairs{{0, 100},
                                                             {150, 200},
                                                             {210, 300},
                                                             {350, 400},
                                                             {410, 500},
                                                             {550, 600},
                                                             {610, 700},
                                                             {800, 900}}));
  EXPECT_EQ(info.error_ns, 20u);
  EXPECT_EQ(info.contexts, (std::vector<std::string>{"main_0", "main_loop_1_1", "main_1"}));
}

TEST(Reduce, ARepresentativeThatIsLongerEndsWithTheSegment) {
  TestRun run(1, 1);
  for (int i = 0; i < 2; ++i) run.barrier(), run.allreduce();
  format::TraceData& data = run.finish();
  data.times = {};
  run.builder().times(0, {{0, 100}, {150, 200}, {210, 300}, {320, 340}, {350, 360}, {400, 450}});
  const Trace trace = run.builder().open();
  const auto reduction = reduce(trace, options_of("iter_k:1"));
  ASSERT_TRUE(reduction.ok());
  EXPECT_EQ(times_of(*rebuilt(trace, *reduction), 0),
            (Pairs{{0, 100}, {150, 200}, {210, 300}, {350, 360}, {360, 360}, {400, 450}}));
}

TEST(Reduce, TheFileOpensLikeAnyOther) {
  TestRun run = test_run("imbalance_at_barrier", 8, 200);
  run.finish();
  const Trace trace = run.builder().open();
  const auto reduction = reduce(trace, options_of("auto", AcrossRanks::kSegments));
  ASSERT_TRUE(reduction.ok());
  const auto bytes = encode(trace, *reduction);
  ASSERT_TRUE(bytes.ok()) << bytes.error().to_string();
  EXPECT_TRUE(format::check(*bytes).empty());
  const auto back = Trace::from_bytes(*bytes, "reduced.rfn");
  ASSERT_TRUE(back.ok()) << back.error().to_string();
  EXPECT_EQ(reader::time_spec_of(*back)->to_string(), "segments:auto:0.1");
  EXPECT_EQ(back->info().text_of("timing"), "segments:auto:0.1");
  EXPECT_EQ(back->call_count(), trace.call_count());
  const auto in_memory = rebuilt(trace, *reduction);
  for (Rank r = 0; r < 8; ++r) EXPECT_EQ(times_of(*back, r), times_of(*in_memory, r));
  // A window is found.
  RankReader reader(*back, 3, Times::kRead);
  Result<Cursor> cursor = reader.cursor(0);
  ASSERT_TRUE(cursor.ok());
  const Pairs times = times_of(*back, 3);
  ASSERT_TRUE(cursor->seek_time(times[123].second));
  EXPECT_EQ(cursor->next()->end_ns, times[123].second);
  // Times cannot be reduced twice.
  const auto again = reduce(*back, options_of("auto"));
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, base::ErrorCode::kUsage);
}

TEST(Reduce, StartsMayBeRounded) {
  TestRun run = test_run("interference", 4, 100);
  run.finish();
  const Trace trace = run.builder().open();
  ReduceOptions options = options_of("absDiff:0");
  size_t bytes = SIZE_MAX;
  for (const uint32_t step : {1u, 16u, 1000u}) {
    options.step_ns = step;
    const auto reduction = reduce(trace, options);
    ASSERT_TRUE(reduction.ok());
    const format::SegmentInfo& info = reduction->times.index.segments;
    EXPECT_EQ(info.step_ns, step);
    EXPECT_EQ(info.error_ns, step / 2);
    ReduceOptions few = options_of("iter_k:1");
    few.step_ns = step;
    const size_t with_few = reduce(trace, few)->times.bytes.size();
    EXPECT_LT(with_few, bytes);
    bytes = with_few;
    const auto back = rebuilt(trace, *reduction);
    ASSERT_TRUE(back.ok());
    for (Rank r = 0; r < 4; ++r) {
      const Pairs was = times_of(trace, r), is = times_of(*back, r);
      for (size_t i = 0; i < is.size(); ++i) {
        EXPECT_LE(apart(was[i].first, is[i].first), step / 2);
        EXPECT_LE(apart(was[i].second, is[i].second), step / 2);
      }
    }
  }
  // By itself: what auto may err anyway, and a microsecond at most; nothing for others.
  EXPECT_EQ(reduce(trace, options_of("auto"))->times.index.segments.step_ns, 1000u);
  const auto precise = reduce(trace, options_of("auto:0.001"));
  double all_ns = 0;
  for (Rank r = 0; r < 4; ++r) all_ns += static_cast<double>(times_of(trace, r).back().second);
  const format::SegmentInfo& info = precise->times.index.segments;
  EXPECT_NEAR(info.step_ns, 0.001 / 16 * all_ns / static_cast<double>(info.segments), 1);
  EXPECT_EQ(reduce(trace, options_of("avgWave"))->times.index.segments.step_ns, 1u);
}

TEST(Reduce, RegularRunsTakeLittle) {
  TestRun run = test_run("imbalance_at_barrier", 8, 400);
  format::TraceData& data = run.finish();
  const Trace trace = run.builder().open();
  const size_t full = data.times.bytes.size();
  const auto within = reduce(trace, options_of("avgWave"));
  const auto combined = reduce(trace, options_of("avgWave", AcrossRanks::kGroups));
  ASSERT_TRUE(within.ok() && combined.ok());
  // A start of 400 iterations takes 2 bytes and a half, two calls with all their times take 7.
  EXPECT_LT(within->times.bytes.size(), full * 45 / 100);
  EXPECT_LT(combined->times.index.segments.representatives,
            within->times.index.segments.representatives);
  EXPECT_LE(combined->times.bytes.size(), within->times.bytes.size());
}

TEST(Reduce, MarksAreSegmentsAsWell) {
  TestRun run = test_run("marked", 4, 30);
  run.finish();
  const Trace trace = run.builder().open();
  ReduceOptions options = options_of("avgWave");
  options.source = SegmentSource::kMarks;
  const auto reduction = reduce(trace, options);
  ASSERT_TRUE(reduction.ok()) << reduction.error().to_string();
  const format::SegmentInfo& info = reduction->times.index.segments;
  EXPECT_EQ(info.source, SegmentSource::kMarks);
  // MPI_Init, the instances; the last one ends with the run.
  EXPECT_EQ(info.segments, 4u * 31);
  EXPECT_EQ(info.contexts, (std::vector<std::string>{"main_0", "step"}));
  EXPECT_GT(info.degree_of_matching(), 0.9);
  EXPECT_TRUE(describe(reduction->marks).empty());
  const auto back = rebuilt(trace, *reduction);
  ASSERT_TRUE(back.ok());
  EXPECT_TRUE(reader::verify_times(*back, 5).empty());
}

TEST(Reduce, MarksThatDoNotNestAreCounted) {
  TestRun run(2, 1);
  run.mark("refrain_region_begin", "a");
  run.barrier();
  run.mark("refrain_region_begin", "b");
  run.barrier();
  run.mark("refrain_region_end", "a");  // b is still open
  run.barrier();
  run.mark("refrain_region_end", "b");  // of nothing any more
  run.mark("refrain_region_begin", "c");
  run.barrier();
  run.finish();
  const Trace trace = run.builder().open();
  ReduceOptions options = options_of("auto");
  options.source = SegmentSource::kMarks;
  options.step_ns = 1;
  const auto reduction = reduce(trace, options);
  ASSERT_TRUE(reduction.ok()) << reduction.error().to_string();
  EXPECT_EQ(reduction->marks.crossed, 2u);
  EXPECT_EQ(reduction->marks.ends_without_begin, 2u);
  EXPECT_EQ(reduction->marks.left_open, 2u);
  const auto back = rebuilt(trace, *reduction);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(times_of(*back, 1), times_of(trace, 1));
}

TEST(Reduce, LittleMemoryLoosensTheThreshold) {
  TestRun run = test_run("interference", 4, 400);
  run.finish();
  const Trace trace = run.builder().open();
  ReduceOptions options = options_of("relDiff:0.001");
  const auto much = reduce(trace, options);
  options.memory_bytes = 6000;
  const auto little = reduce(trace, options);
  ASSERT_TRUE(much.ok() && little.ok()) << little.error().to_string();
  EXPECT_EQ(much->times.index.segments.loosenings, 0u);
  EXPECT_GT(little->times.index.segments.loosenings, 0u);
  EXPECT_GT(little->times.index.segments.threshold, 0.001);
  EXPECT_LT(little->times.index.segments.representatives,
            much->times.index.segments.representatives);
  const auto back = rebuilt(trace, *little);
  ASSERT_TRUE(back.ok());
  EXPECT_TRUE(reader::verify_times(*back, 5).empty());
}

TEST(Reduce, TimesThatEndEarlyAreReducedAsFarAsTheyGo) {
  TestRun run = test_run("late_sender", 2, 20);
  format::TraceData& data = run.finish();
  data.times = {};
  Pairs some = run.times(0);
  some.resize(some.size() - 7);
  run.builder().times(0, some);
  run.builder().times(1, run.times(1));
  data.losses.push_back({"times_missing", 7, 0, ""});
  data.meta.complete = false;
  const Trace trace = run.builder().open();
  const auto reduction = reduce(trace, options_of("absDiff:0"));
  ASSERT_TRUE(reduction.ok()) << reduction.error().to_string();
  EXPECT_EQ(reduction->missing_calls, 7u);
  const auto back = rebuilt(trace, *reduction);
  ASSERT_TRUE(back.ok());
  RankReader reader(*back, 0, Times::kRead);
  uint64_t timed = 0;
  ASSERT_TRUE(
      reader.for_each_call(0, [&](const Call& c) { return timed += c.has_time, true; }).ok());
  EXPECT_EQ(timed, some.size());
}

TEST(Reduce, ClocksAreAppliedFirst) {
  TestRun run = test_run("late_sender", 2, 10);
  run.finish();
  run.builder().clock(1, {{0, 70'000}, {1'000'000, 1'071'000}});
  const Trace trace = run.builder().open();
  const auto reduction = reduce(trace, options_of("absDiff:0"));
  ASSERT_TRUE(reduction.ok());
  const auto back = rebuilt(trace, *reduction);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(times_of(*back, 1), times_of(trace, 1));
  EXPECT_EQ(times_of(trace, 1)[0].first, 70'000u);
}

TEST(Reduce, WithoutTimesItIsNotSupported) {
  TestRun run(2, 1);
  run.barrier();
  run.finish();
  run.builder().data().times = {};
  const auto reduction = reduce(run.builder().open(), options_of("auto"));
  ASSERT_FALSE(reduction.ok());
  EXPECT_EQ(reduction.error().code, base::ErrorCode::kUnsupported);
}

TEST(Reduce, LongSegmentsAreDivided) {
  TestRun run(1, 1);
  // No loop in it that the grammar could find: two calls in an order that does not repeat.
  for (int i = 0; i < 20'000; ++i) run.random(2) == 0 ? run.barrier() : run.allreduce();
  run.finish();
  const Trace trace = run.builder().open();
  ReduceOptions options = options_of("auto");
  options.source = SegmentSource::kMarks;
  options.step_ns = 1;
  const auto reduction = reduce(trace, options);
  ASSERT_TRUE(reduction.ok());
  EXPECT_EQ(reduction->divided, 2u);
  EXPECT_EQ(reduction->times.index.segments.segments, 3u);
  EXPECT_EQ(times_of(*rebuilt(trace, *reduction), 0), times_of(trace, 0));
}

// Every iteration has a signature of its own, but its calls stand at the same places.
TEST(Reduce, LoopsAreFoundWhereParametersChange) {
  TestRun run(2, 1);
  for (int i = 0; i < 60; ++i) {
    for (uint64_t r = 0; r < 2; ++r) run.work(r, 1e5);
    run.bcast(static_cast<uint64_t>(i % 2), 10 + i);
    run.bcast(static_cast<uint64_t>(i % 2), 100 + i);
    run.barrier();
  }
  run.finish();
  const Trace trace = run.builder().open();
  const auto reduction = reduce(trace, options_of("avgWave"));
  ASSERT_TRUE(reduction.ok());
  const format::SegmentInfo& info = reduction->times.index.segments;
  EXPECT_GE(info.segments, 2u * 60);
  EXPECT_GT(info.degree_of_matching(), 0.9);
  const auto back = rebuilt(trace, *reduction);
  ASSERT_TRUE(back.ok());
  EXPECT_TRUE(reader::verify_times(*back, 5).empty());
}

TEST(Reduce, MessagesAreCountedByName) {
  EXPECT_EQ(messages_of_call(mpi::kMPI_Isend), 1u);
  EXPECT_EQ(messages_of_call(mpi::kMPI_Sendrecv_replace), 2u);
  EXPECT_EQ(messages_of_call(mpi::kMPI_Isendrecv), 2u) << "once one message here, two elsewhere";
  EXPECT_EQ(messages_of_call(mpi::kMPI_Imrecv), 1u);
  EXPECT_EQ(messages_of_call(mpi::kMPI_Send_init), 0u);
  EXPECT_EQ(messages_of_call(mpi::kMPI_Barrier), 0u);
  EXPECT_EQ(messages_of_call(mpi::krefrain_region_begin), 0u);
}

}  // namespace
}  // namespace refrain::analysis::reduce
