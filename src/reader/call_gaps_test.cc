#include "reader/call_gaps.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

#include "reader/test_trace.h"
#include "refrain/calls.h"

namespace refrain::reader {
namespace {

struct Timed {
  uint64_t seq = 0, begin_ns = 0, end_ns = 0;
};
struct MaybeTimed {
  uint64_t seq = 0, begin_ns = 0, end_ns = 0;
  bool has_time = true;
};

using Times = std::vector<std::pair<uint64_t, uint64_t>>;
using Gap = std::optional<uint64_t>;

// Rank 0 with the calls of some threads, and what the recorder did behind them: `own_ns` in all,
// some of it in pieces.
Trace made(const std::vector<Times>& threads, uint64_t own_ns, std::vector<format::OwnWork> work) {
  TraceBuilder builder(1);
  ShapeWriter barrier("MPI_Barrier");
  const uint32_t call = builder.signature(barrier.none().object(builder.world()));
  builder.group({0}, std::vector<uint32_t>(threads[0].size(), call));
  format::TraceData& data = builder.data();
  for (uint32_t thread = 1; thread < threads.size(); ++thread) {
    grammar::Builder calls;
    for (size_t i = 0; i < threads[thread].size(); ++i) calls.append(0);
    data.durations[call].count += threads[thread].size();
    data.groups[0].locations.push_back({thread, static_cast<uint32_t>(data.grammars.size())});
    data.grammars.push_back(calls.finish());
  }
  for (uint32_t thread = 0; thread < threads.size(); ++thread)
    format::add_times(data, 0, thread, threads[thread], "exact", format::kCallsPerBlock);
  data.totals[0].own_ns = own_ns;
  data.own_work = std::move(work);
  return builder.open();
}

std::vector<Gap> gaps_of(const Trace& trace, uint32_t thread = 0) {
  RankReader reader(trace, 0, refrain::Times::kRead);
  CallGaps gaps(trace, 0, thread);
  std::vector<Gap> out;
  EXPECT_TRUE(reader
                  .for_each_call(thread,
                                 [&](const Call& call) {
                                   out.push_back(gaps.before(call));
                                   return true;
                                 })
                  .ok());
  return out;
}

constexpr Gap kUnknown;  // until when the thread was busy

TEST(CallGaps, AreBetweenTheEndOfOneCallAndTheBeginOfTheNext) {
  const Trace trace = made({{{100, 200}, {250, 300}, {300, 310}, {410, 420}}}, 0, {});
  EXPECT_EQ(gaps_of(trace), (std::vector<Gap>{kUnknown, 50, 0, 100}));
}

// By number a call inside of another one comes first, by begin the outer one does.
TEST(CallGaps, ACallInsideOfAnotherOneAddsNothing) {
  const Timed before{0, 0, 100}, inner{1, 150, 160}, outer{2, 120, 200}, behind{3, 230, 240};
  CallGaps by_number, by_begin;
  EXPECT_EQ(by_number.before(before), kUnknown);
  EXPECT_EQ(by_number.before(inner), 50u);
  EXPECT_EQ(by_number.before(outer), 0u);
  EXPECT_EQ(by_number.before(behind), 30u);
  EXPECT_EQ(by_begin.before(before), kUnknown);
  EXPECT_EQ(by_begin.before(outer), 20u);
  EXPECT_EQ(by_begin.before(inner), 0u);
  EXPECT_EQ(by_begin.before(behind), 30u);
}

TEST(CallGaps, ThreadsOfARankAreApart) {
  const Times first{{0, 10}, {100, 110}, {300, 310}}, second{{50, 250}, {260, 270}};
  // 200 ns in pieces, and 20 ns for each call.
  const Trace trace = made({first, second}, 300, {{0, 0, {{1, 150}}}, {0, 1, {{0, 50}}}});
  EXPECT_EQ(gaps_of(trace, 0), (std::vector<Gap>{kUnknown, 50, 20}));
  EXPECT_EQ(gaps_of(trace, 1), (std::vector<Gap>{kUnknown, 0}));
}

// As of times in bins, which may be shorter than the exact piece between them.
TEST(CallGaps, APieceOfTheRecordersWorkIsOverBeforeTheNextCall) {
  const Times times{{0, 10}, {110, 120}, {220, 230}, {330, 340}};
  const Trace trace = made({times}, 190, {{0, 0, {{0, 40}, {1, 150}}}});
  EXPECT_EQ(gaps_of(trace), (std::vector<Gap>{kUnknown, 60, 0, 100}));
}

// The recorder worked 80 ns in all, of which no piece was kept.
TEST(CallGaps, ACallInTheMiddleOwesNothing) {
  const Times times{{0, 10}, {110, 120}, {220, 230}, {330, 340}};
  const Trace trace = made({times}, 80, {});
  CallGaps gaps(trace, 0, 0);
  gaps.begin_behind(Timed{1, 110, 120});
  EXPECT_EQ(gaps.before(Timed{2, 220, 230}), 80u);
  EXPECT_EQ(gaps.before(Timed{3, 330, 340}), 80u);
}

TEST(CallGaps, BeginWhereTheThreadIsSaidToBeBusyUntil) {
  CallGaps gaps;
  gaps.busy_until(0);
  EXPECT_EQ(gaps.before(Timed{0, 30, 50}), 30u);
  gaps.busy_until(60);
  gaps.busy_until(40);
  EXPECT_EQ(gaps.before(Timed{1, 100, 110}), 40u);
}

TEST(CallGaps, ACallThatCountsAsAGapIsPartOfIt) {
  const Times times{{0, 10}, {110, 120}, {220, 230}, {330, 340}, {440, 450}};
  // 50 ns in pieces, and 10 ns for each call.
  const Trace trace = made({times}, 100, {{0, 0, {{1, 30}, {2, 20}}}});
  CallGaps gaps(trace, 0, 0);
  EXPECT_EQ(gaps.before(Timed{0, 0, 10}), kUnknown);
  gaps.count_as_gap(Timed{1, 110, 120});
  gaps.count_as_gap(Timed{2, 220, 230});
  EXPECT_EQ(gaps.before(Timed{3, 330, 340}), 320u - 50 - 40);
  EXPECT_EQ(gaps.before(Timed{4, 440, 450}), 90u);
}

// Several threads in one order: another one's work is beside this thread, and its numbers are its
// own.
TEST(CallGaps, CallsOfOthersTakeTheirTimeAlone) {
  const Times times{{0, 10}, {300, 310}};
  const Trace trace = made({times}, 100, {{0, 0, {{0, 20}, {1, 80}}}});
  CallGaps gaps(trace, 0, 0);
  EXPECT_EQ(gaps.before(Timed{0, 0, 10}), kUnknown);
  EXPECT_EQ(gaps.before_others(Timed{1, 100, 150}), 70u);
  gaps.count_as_gap_of_others();
  EXPECT_EQ(gaps.before(Timed{1, 300, 310}), 150u);
  EXPECT_EQ(gaps.before(Timed{2, 400, 410}), 10u);
}

// Behind a call whose time is not known, as its block is damaged.
TEST(CallGaps, BehindACallWithoutATimeThereIsNone) {
  CallGaps gaps;
  EXPECT_EQ(gaps.before(MaybeTimed{0, 0, 10, true}), kUnknown);
  EXPECT_EQ(gaps.before(MaybeTimed{1, 20, 30, true}), 10u);
  EXPECT_EQ(gaps.before(MaybeTimed{2, 0, 0, false}), kUnknown);
  EXPECT_EQ(gaps.before(MaybeTimed{3, 0, 0, false}), kUnknown);
  EXPECT_EQ(gaps.before(MaybeTimed{4, 900, 910, true}), kUnknown);
  EXPECT_EQ(gaps.before(MaybeTimed{5, 930, 940, true}), 20u);
}

TEST(CallGaps, OfADamagedTraceDoNotOverflow) {
  const Trace trace = made({{{0, 10}, {20, 30}}}, 60, {{0, 0, {{0, 60}}}});
  CallGaps gaps(trace, 0, 0);
  EXPECT_EQ(gaps.before(Timed{0, UINT64_MAX - 20, UINT64_MAX - 10}), kUnknown);
  EXPECT_EQ(gaps.before(Timed{1, 5, 3}), 0u);
  EXPECT_EQ(gaps.before(Timed{2, UINT64_MAX, UINT64_MAX}), 10u);
}

// The sum of a rank's times is what the recorder counts outside of MPI: the first call's share of
// the small work is in them, too.
TEST(CallGaps, AddUpToTheTimeOutsideOfMpi) {
  const Times times{{0, 10}, {30, 40}, {45, 50}, {450, 460}, {470, 480}};
  constexpr uint64_t kBetween = 20 + 5 + 400 + 10, kOwn = 75 + 50;
  uint64_t sum = 0;
  for (const Gap& gap : gaps_of(made({times}, kOwn, {{0, 0, {{2, 75}}}}))) sum += gap.value_or(0);
  EXPECT_EQ(sum, kBetween - kOwn);
}

// A trace with statistics: its times are built from the time outside of MPI.
TEST(CallGaps, BuiltTimesHaveNoWorkOfTheRecorder) {
  TraceBuilder builder(1);
  ShapeWriter barrier("MPI_Barrier");
  const uint32_t call = builder.signature(barrier.none().object(builder.world()));
  builder.group({0}, {call, call});
  builder.data().totals[0].own_ns = 100;
  const Trace trace = builder.open();
  CallGaps gaps(trace, 0, 0);
  EXPECT_EQ(gaps.before(Timed{0, 0, 10}), kUnknown);
  EXPECT_EQ(gaps.before(Timed{1, 70, 80}), 60u);
}

}  // namespace
}  // namespace refrain::reader
