// CallOrder: calls come in the order of their begins, nest or follow each other, and are those of a
// reference that is slow and obvious wherever their times need no repair.
#include "events/by_rank/call_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "reader/test_trace.h"

namespace refrain::events {
namespace {

using reader::ShapeWriter;
using reader::TraceBuilder;
using Spans = std::vector<std::pair<uint64_t, uint64_t>>;

struct Ordered {
  Spans recorded;  // as the trace has them
  std::vector<ClockedCall> calls;
  CallOrder::Counts counts;
};

uint32_t barrier(TraceBuilder& builder) {
  ShapeWriter shape("MPI_Barrier");
  shape.none().object(builder.world());
  return builder.signature(shape);
}

// What CallOrder makes of calls with these times, in this order.
Ordered order(const Spans& times) {
  TraceBuilder builder(1);
  builder.group({0}, std::vector<uint32_t>(times.size(), barrier(builder)));
  builder.times(0, times);
  const Trace trace = builder.open();
  RankReader reader(trace, 0, refrain::Times::kRead);
  auto cursor = reader.cursor(0);
  EXPECT_TRUE(cursor.ok());
  auto again = reader.cursor(0);
  EXPECT_TRUE(again.ok());
  Ordered out;
  while (const Call* call = again->next()) out.recorded.emplace_back(call->begin_ns, call->end_ns);
  CallOrder calls(trace, std::move(*cursor), {}, out.counts);
  ClockedCall call;
  while (calls.next(call)) out.calls.push_back(call);
  return out;
}

// A program of calls whose callbacks call: a tree. Calls are given out at their ends.
class Tree {
 public:
  Tree(uint32_t seed, int depth) : random_(seed), depth_(depth) {}
  Spans make(size_t calls) {
    while (times_.size() < calls) one(0);
    return times_;
  }

 private:
  void one(int depth) {
    const uint64_t begin = now_ += random_() % 5;
    now_ += random_() % 3;
    if (depth < depth_ && random_() % 4 == 0)
      for (uint64_t i = random_() % 4; i > 0; --i) one(depth + 1), now_ += random_() % 3;
    times_.emplace_back(begin, now_ += 1 + random_() % 3);
  }
  std::mt19937 random_;
  const int depth_;
  uint64_t now_ = 0;
  Spans times_;
};

// The reference: by begin; of equal ones the outer one, which ends last, first.
std::vector<size_t> by_begin(const Spans& times) {
  std::vector<size_t> order(times.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return times[a].first != times[b].first ? times[a].first < times[b].first
                                            : times[a].second > times[b].second;
  });
  return order;
}

bool nest_or_follow(const ClockedCall& first, const ClockedCall& second) {
  return second.begin_ns >= first.end_ns || second.end_ns <= first.end_ns;
}

void expect_sound(const Ordered& found, size_t calls) {
  ASSERT_EQ(found.calls.size(), calls);
  std::set<uint64_t> seen;
  for (size_t i = 0; i < calls; ++i) {
    const ClockedCall& call = found.calls[i];
    EXPECT_TRUE(seen.insert(call.seq).second) << call.seq;
    EXPECT_LE(call.begin_ns, call.end_ns);
    if (i > 0) {
      EXPECT_GE(call.begin_ns, found.calls[i - 1].begin_ns) << "position " << i;
    }
    for (size_t k = 0; k < i; ++k)
      EXPECT_TRUE(nest_or_follow(found.calls[k], call)) << k << " and " << i;
  }
}

TEST(CallOrder, IsThatOfBeginsWhereCallsNest) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const Spans times = Tree(seed, 4).make(200);
    const Ordered found = order(times);
    expect_sound(found, times.size());
    EXPECT_EQ(found.counts.cut, 0u) << "seed " << seed;
    EXPECT_EQ(found.counts.built, 0u);
    const std::vector<size_t> expected = by_begin(times);
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(found.calls[i].begin_ns, times[expected[i]].first) << "seed " << seed << ", " << i;
      EXPECT_EQ(found.calls[i].end_ns, times[expected[i]].second) << "seed " << seed << ", " << i;
    }
  }
}

TEST(CallOrder, IntervalsThatCrossAreCutAndCounted) {
  size_t cut = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    Spans times = Tree(seed, 3).make(150);
    // As times within a bound are: near the true ones, each on its own.
    for (auto& [begin, end] : times) {
      begin += random() % 4;
      end = std::max(end + random() % 4, begin);
    }
    const Ordered found = order(times);
    expect_sound(found, times.size());
    size_t moved = 0;
    for (const ClockedCall& call : found.calls)
      moved += std::pair(call.begin_ns, call.end_ns) != found.recorded[call.seq] ? 1 : 0;
    EXPECT_EQ(found.counts.cut, moved) << "seed " << seed;
    cut += found.counts.cut;
  }
  EXPECT_GT(cut, 0u);
}

// More calls inside of one than are read ahead: all come, nested or one after the other.
TEST(CallOrder, LosesNothingBeyondWhatItReadsAhead) {
  Spans times;
  for (uint64_t i = 0; i < CallOrder::kAhead + 500; ++i) times.emplace_back(10 + 2 * i, 11 + 2 * i);
  times.emplace_back(5, times.back().second + 5);
  const Ordered found = order(times);
  ASSERT_EQ(found.calls.size(), times.size());
  EXPECT_EQ(found.counts.cut, 1u);
  std::set<uint64_t> seen;
  uint64_t last_begin = 0, last_end = 0;
  for (const ClockedCall& call : found.calls) {
    EXPECT_TRUE(seen.insert(call.seq).second);
    EXPECT_GE(call.begin_ns, last_begin);
    last_begin = call.begin_ns;
    last_end = std::max(last_end, call.end_ns);
  }
  EXPECT_EQ(last_end, times.back().second);
}

// Without times: means and pauses that add up to what was recorded of the rank.
TEST(CallOrder, BuiltTimesAddUpToTheTotalsOfTheRank) {
  TraceBuilder builder(2);
  const uint32_t id = barrier(builder);
  builder.group({0, 1}, std::vector<uint32_t>(11, id));
  builder.data().durations[id].sum_ns = 22 * 70;
  builder.data().totals[0] = {1100, 500, {}};
  builder.data().totals[1] = {440, 0, {}};
  const Trace trace = builder.open();
  for (const Rank rank : {0, 1}) {
    RankReader reader(trace, rank, refrain::Times::kSkip);
    auto cursor = reader.cursor(0);
    ASSERT_TRUE(cursor.ok());
    CallOrder::Counts counts;
    CallOrder calls(trace, std::move(*cursor), pace_of(trace, rank), counts);
    uint64_t in_mpi = 0, outside = 0, last = 0;
    ClockedCall call;
    while (calls.next(call)) {
      in_mpi += call.end_ns - call.begin_ns;
      outside += call.begin_ns - last;
      last = call.end_ns;
    }
    EXPECT_EQ(counts.built, 11u);
    EXPECT_NEAR(static_cast<double>(in_mpi), rank == 0 ? 1100 : 440, 11);
    EXPECT_NEAR(static_cast<double>(outside), rank == 0 ? 500 : 0, 11);
  }
}

}  // namespace
}  // namespace refrain::events
