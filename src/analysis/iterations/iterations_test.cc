#include "analysis/iterations/iterations.h"

#include <gtest/gtest.h>

#include "analysis/iterations/likeness.h"
#include "reader/test_trace.h"

namespace refrain::analysis {
namespace {

TEST(LoopsByCall, AreThoseThatMakeACallThatTheLoopMakes) {
  using iterations::LocalLoop;
  iterations::LoopsByCall loops;
  const LocalLoop first{"", {{7, 10}, {8, 10}, {9, 20}}, 10}, second{"", {{1, 5}}, 5},
      third{"", {{8, 4}, {10, 4}}, 4};
  loops.add(0, first);
  loops.add(1, second);
  loops.add(3, third);
  using Shared = std::vector<std::pair<size_t, size_t>>;
  EXPECT_EQ(loops.sharing({"", {{8, 1}, {9, 1}, {11, 1}}, 1}), (Shared{{0, 2}, {3, 1}}));
  EXPECT_EQ(loops.sharing({"", {{1, 1}}, 1}), (Shared{{1, 1}}));
  EXPECT_EQ(loops.sharing({"", {{2, 1}}, 1}), Shared());
  // Of four calls two, in as many iterations; or with a call that comes as often in each.
  EXPECT_EQ(iterations::likeness(first, 10, {"", {{8, 9}, {9, 9}, {11, 9}}, 9}, 2), 0.5);
  EXPECT_EQ(iterations::likeness(first, 10, {"", {{8, 3}, {9, 3}, {11, 3}}, 3}, 2), 0.5);
  EXPECT_EQ(iterations::likeness(first, 10, {"", {{8, 30}, {9, 3}, {11, 3}}, 3}, 2), 0);
  // Too few calls of both.
  EXPECT_EQ(iterations::likeness(first, 10, {"", {{8, 10}, {10, 1}, {11, 1}}, 10}, 1), 0);
}

TEST(Trend, IsNamedWhereChanceDoesNotExplainIt) {
  const auto is_named = [](size_t iterations, double share, double fit) {
    IterationLoop loop;
    loop.rows.resize(iterations);
    loop.trend_share = share;
    loop.trend_fit = fit;
    return loop.has_clear_trend();
  };
  // The first or the last one of a few iterations was slow.
  EXPECT_FALSE(is_named(3, 2.4, 0.94));
  EXPECT_FALSE(is_named(4, -1.5, 0.8));
  EXPECT_FALSE(is_named(7, 1.5, 0.56));
  EXPECT_TRUE(is_named(3, 0.2, 0.999));
  EXPECT_TRUE(is_named(6, -1.6, 0.95));
  EXPECT_TRUE(is_named(8, 0.5, 0.5));
  EXPECT_FALSE(is_named(100, 0.5, 0.49));
  EXPECT_FALSE(is_named(100, 0.09, 0.99));
  EXPECT_FALSE(is_named(0, 0, 0));
  // A line below zero at one of its ends.
  EXPECT_TRUE(is_named(8, -1.9, 0.7));
  EXPECT_FALSE(is_named(8, -2.6, 0.7));
  EXPECT_FALSE(is_named(8, 2.6, 0.7));
}

// What a rank does, one call after another, 10 ns each.
class Calls {
 public:
  Calls() : world_(builder_.world()), barrier_(of("MPI_Barrier", 0x100, {})) {
    for (int i = 0; i < 2; ++i)
      for (const int64_t flag : {0, 1}) probe_[i][flag] = of("MPI_Iprobe", 0x200 + i, {flag});
  }

  Calls& barrier() { return add(barrier_); }
  // In vain where it finds nothing; at one of two call sites.
  Calls& probe(int at, int64_t finds) { return add(probe_[at][finds]); }
  // A function that MPI calls, which may call MPI.
  Calls& callback() { return add(of("MPI_Op_create", 0x300, {})); }
  Iterations find() {
    std::vector<std::pair<uint64_t, uint64_t>> times;
    for (uint64_t i = 0; i < calls_.size(); ++i) times.emplace_back(20 * i, 20 * i + 10);
    return find_at(times);
  }
  // With other times: begin and end of each call.
  Iterations find_at(const std::vector<std::pair<uint64_t, uint64_t>>& times) {
    builder_.group({0}, calls_);
    builder_.times(0, times);
    const auto found = find_iterations(builder_.open(), {});
    EXPECT_TRUE(found.ok());
    return found.ok() ? *found : Iterations{};
  }

 private:
  uint32_t of(const char* name, int64_t offset, const std::vector<int64_t>& flag) {
    reader::ShapeWriter s(name);
    s.object(builder_.site("/no/such/app", "", offset));
    if (!flag.empty()) s.constant("MPI_ANY_SOURCE").integer(0);
    s.object(world_);
    for (const int64_t f : flag) s.integer(f).none();
    return builder_.signature(s);
  }
  Calls& add(uint32_t call) {
    calls_.push_back(call);
    return *this;
  }

  reader::TraceBuilder builder_{1};
  uint32_t world_, barrier_, probe_[2][2] = {};
  std::vector<uint32_t> calls_;
};

// The rounds of a loop that asks two things in turn say how long it waited, and are no iterations.
TEST(Iterations, LeaveOutLoopsThatOnlyAskInVain) {
  Calls calls;
  for (int step = 0; step < 10; ++step) calls.barrier().probe(0, 1);
  for (int round = 0; round < 500; ++round) calls.probe(0, 0).probe(1, 0);
  calls.probe(1, 1);
  const Iterations found = calls.find();
  ASSERT_EQ(found.loops.size(), 1U);
  EXPECT_EQ(found.loops[0].rows.size(), 10U);
  EXPECT_EQ(found.loops[0].name, "loop_1");
  EXPECT_NEAR(static_cast<double>(found.polling_rounds), 500, 2);
}

TEST(Iterations, HaveNoLoopsWhereAllOnlyAskInVain) {
  Calls calls;
  for (int round = 0; round < 500; ++round) calls.probe(0, 0).probe(1, 0);
  const Iterations found = calls.find();
  EXPECT_TRUE(found.loops.empty());
  EXPECT_NEAR(static_cast<double>(found.polling_rounds), 500, 2);
}

// A round that finds something, or does something beside asking, is an iteration.
TEST(Iterations, KeepLoopsThatFindOrDoSomething) {
  Calls finds, does;
  for (int round = 0; round < 100; ++round) {
    finds.probe(0, 0).probe(1, 1);
    does.probe(0, 0).probe(1, 0).barrier();
  }
  for (Calls* calls : {&finds, &does}) {
    const Iterations found = calls->find();
    ASSERT_EQ(found.loops.size(), 1U);
    EXPECT_EQ(found.loops[0].rows.size(), 100U);
    EXPECT_EQ(found.polling_rounds, 0U);
  }
}

// A callback makes two calls inside of the call that calls it, and ends before it.
TEST(Iterations, CountTimeInsideOfCallsOnce) {
  Calls calls;
  calls.callback();
  std::vector<std::pair<uint64_t, uint64_t>> times{{0, 10}};
  for (uint64_t step = 0; step < 10; ++step) {
    const uint64_t at = 100 + 100 * step;
    calls.probe(0, 1).probe(1, 1).barrier();
    times.insert(times.end(), {{at + 10, at + 30}, {at + 40, at + 60}, {at, at + 90}});
  }
  const Iterations found = calls.find_at(times);
  ASSERT_EQ(found.loops.size(), 1U);
  ASSERT_EQ(found.loops[0].rows.size(), 10U);
  for (const auto& row : found.loops[0].rows) {
    EXPECT_EQ(row.mpi_ns, 90);
    EXPECT_GE(static_cast<double>(row.end_ns - row.begin_ns), row.mpi_ns);
  }
}

}  // namespace
}  // namespace refrain::analysis
