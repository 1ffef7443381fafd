// Simulations that leave out iterations, against the same ones that leave out nothing.
#include "sim/run/skip.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include "format/encode/encode.h"
#include "refrain/trace.h"
#include "sim/lower/loops.h"
#include "sim/run/predicted_trace.h"
#include "sim/run/simulate.h"
#include "sim/testing/programs.h"

namespace refrain::sim {
namespace {

constexpr const char* kMachine = R"(version = 1
[distance.core]
eager_limit = 65536
[[distance.core.range]]
L = 400
o_send = 90
o_recv = 110
g = 20
G = 0.07
[distance.switch]
eager_limit = %LIMIT%
[[distance.switch.range]]
L = 1501
o_send = 303
o_recv = 307
g = 51
G = 0.11
[topology]
kind = "torus"
dimensions = [4, 4]
cores = 2
%LINKS%
)";

Machine machine(const std::string& limit, const std::string& links) {
  std::string text = kMachine;
  text.replace(text.find("%LIMIT%"), 7, limit);
  text.replace(text.find("%LINKS%"), 7, links);
  const auto out = parse_machine(text, "m.toml");
  EXPECT_TRUE(out.ok());
  return *out;
}

// Without totals, ranks compute nothing between calls. With them, what is built is whole ns in the
// mean only.
Trace trace_of(uint64_t ranks, const std::function<format::RankRecord(uint64_t)>& rank,
               bool has_totals = false) {
  auto data = testing::merged(ranks, rank);
  EXPECT_TRUE(data.ok());
  if (!has_totals) data->totals.assign(ranks, {});
  const auto bytes = format::encode(*data);
  EXPECT_TRUE(bytes.ok());
  return *Trace::from_bytes(*bytes, "made");
}

Simulation simulated(const Trace& trace, const Machine& machine, double skip) {
  SimulateOptions options;
  options.skip_share = skip;
  const auto out = simulate(trace, machine, options);
  EXPECT_TRUE(out.ok());
  EXPECT_TRUE(out->deadlock.empty());
  return *out;
}

void expect_same(const Simulation& got, const Simulation& wanted, const std::string& what) {
  EXPECT_EQ(got.predicted_ns, wanted.predicted_ns) << what;
  EXPECT_EQ(got.calls, wanted.calls) << what;
  ASSERT_EQ(got.ranks.size(), wanted.ranks.size());
  for (size_t r = 0; r < got.ranks.size(); ++r) {
    EXPECT_EQ(got.ranks[r].computed, wanted.ranks[r].computed) << what << " rank " << r;
    EXPECT_EQ(got.ranks[r].waited, wanted.ranks[r].waited) << what << " rank " << r;
    EXPECT_EQ(got.ranks[r].communicated, wanted.ranks[r].communicated) << what << " rank " << r;
    EXPECT_EQ(got.ranks[r].end, wanted.ranks[r].end) << what << " rank " << r;
    EXPECT_EQ(got.ranks[r].calls, wanted.ranks[r].calls) << what << " rank " << r;
  }
}

using Program = std::function<format::RankRecord(uint64_t)>;

// What repeats exactly is the same to the ns; means that are cut to whole ns, within the bound.
// Returns the share of the calls that was left out.
double check(uint64_t ranks, const Program& program, const Machine& on, const std::string& what) {
  const Trace trace = trace_of(ranks, program);
  const Simulation whole = simulated(trace, on, 0), part = simulated(trace, on, 0.005);
  expect_same(part, whole, what);
  EXPECT_EQ(part.not_skipped, "") << what;
  EXPECT_EQ(whole.skipped_calls, 0U) << what;
  EXPECT_LE(part.events, whole.events) << what;
  const Trace computes = trace_of(ranks, program, true);
  const Simulation exact = simulated(computes, on, 0), near = simulated(computes, on, 0.005);
  EXPECT_EQ(near.not_skipped, "") << what;
  EXPECT_GT(near.skip_error_ns, 0) << what;
  EXPECT_LE(std::abs(near.predicted_ns - exact.predicted_ns), near.skip_error_ns) << what;
  return static_cast<double>(part.skipped_calls) / static_cast<double>(part.calls);
}

Program halo(testing::Dims dims, bool around, int64_t count) {
  return [=](uint64_t r) { return testing::halo(r, dims, 300, around, count); };
}

TEST(Skip, RegularProgramsAreTheSame) {
  for (const char* limit : {"65536", "100"}) {
    const Machine on = machine(limit, "");
    const std::string what = std::string(", limit ") + limit;
    double skipped = 0;
    skipped += check(12, halo({4, 3}, false, 20), on, "4 x 3" + what);
    skipped += check(16, halo({4, 4}, true, 100), on, "4 x 4 around" + what);
    skipped += check(12, halo({2, 3, 2}, false, 40), on, "2 x 3 x 2" + what);
    skipped += check(5, halo({5}, true, 1), on, "5 around" + what);
    const Program waves = [](uint64_t r) { return testing::lu(r, {3, 3}, 60, 5); };
    skipped += check(9, waves, on, "waves" + what);
    EXPECT_GT(skipped, 2.5);  // of 5
  }
  const Program ring = [](uint64_t r) { return testing::ring(r, {7}, 400, 10); };
  (void)check(7, ring, machine("65536", ""), "ring");
}

TEST(Skip, WavesThereAndBackAreTheSame) {
  const std::vector<int64_t> dims = {4, 4};
  const Trace trace = trace_of(16, [&](uint64_t rank) { return testing::lu(rank, dims, 100, 10); });
  const Machine on = machine("65536", "");
  const Simulation whole = simulated(trace, on, 0), part = simulated(trace, on, 0.005);
  expect_same(part, whole, "lu");
  EXPECT_GT(part.skipped_calls, 9 * part.calls / 10);
  EXPECT_EQ(part.skip_error_ns, 0);
}

TEST(Skip, WithContentionTheErrorIsSaid) {
  const std::vector<int64_t> dims = {4, 4};
  const Trace trace =
      trace_of(16, [&](uint64_t rank) { return testing::halo(rank, dims, 3000, true, 200); });
  const Machine on = machine("65536", "link_bandwidth = 2e8");
  const Simulation whole = simulated(trace, on, 0), part = simulated(trace, on, 0.005);
  ASSERT_TRUE(whole.has_contention);
  const auto off = static_cast<double>(std::abs(part.predicted_ns - whole.predicted_ns));
  EXPECT_LE(off, 0.005 * static_cast<double>(whole.predicted_ns));
  EXPECT_EQ(part.calls, whole.calls);
  // One iteration in 64 is simulated, at least.
  EXPECT_LE(part.skipped_calls, 64 * part.calls / 65);
}

// Whether messages cross may hang on a ns, so a bound from sums and maxima does not hold.
TEST(Skip, WhereMessagesCrossTheErrorIsSaidAndStatesRepeat) {
  const std::vector<int64_t> dims = {3, 3};
  const Trace trace =
      trace_of(9, [&](uint64_t rank) { return testing::halo(rank, dims, 3000, true, 200); });
  Machine on = machine("65536", "");
  for (Protocol& protocol : on.distances)
    for (SizeRange& range : protocol.ranges) range.crossing = {40, 40, 40};
  const Simulation plain = simulated(trace, machine("65536", ""), 0);
  const Simulation whole = simulated(trace, on, 0), part = simulated(trace, on, 0.005);
  EXPECT_GT(whole.predicted_ns, plain.predicted_ns);
  EXPECT_EQ(part.predicted_ns, whole.predicted_ns);
  EXPECT_EQ(part.calls, whole.calls);
  EXPECT_GT(part.skipped_calls, 9 * part.calls / 10);
  EXPECT_LE(part.skipped_calls, 64 * part.calls / 65);
}

// Times of calls: those of a simulation with other numbers, whose computation is cut to whole ns.
TEST(Skip, RecordedTimesStayWithinTheBound) {
  const std::string path = ::testing::TempDir() + "refrain-skip-test.rfn";
  const Trace made = trace_of(
      9,
      [](uint64_t r) {
        return testing::lu(r, {3, 3}, 80, 6);
      },
      true);
  {
    PredictedTrace out(made, "m");
    SimulateOptions options;
    options.on_call = [&](Rank rank, uint32_t thread, uint64_t seq, Time begin, Time end) {
      out.add(rank, thread, seq, begin, end);
    };
    ASSERT_TRUE(simulate(made, machine("65536", ""), options).ok());
    ASSERT_TRUE(out.write(path).ok());
  }
  const auto timed = Trace::open(path);
  ASSERT_TRUE(timed.ok());
  ASSERT_TRUE(timed->has_times());
  const Machine on = machine("100", "");
  const Simulation whole = simulated(*timed, on, 0), part = simulated(*timed, on, 0.01);
  EXPECT_EQ(part.compute_from, "exact");
  EXPECT_EQ(part.not_skipped, "");
  EXPECT_GT(part.skipped_calls, part.calls / 2);
  EXPECT_EQ(part.calls, whole.calls);
  EXPECT_GT(part.skip_error_ns, 0);
  EXPECT_LE(std::abs(part.predicted_ns - whole.predicted_ns), part.skip_error_ns);
  std::remove(path.c_str());
}

TEST(Skip, TheMainLoopHasMostCalls) {
  using grammar::Symbol;
  grammar::Grammar g;
  // start: 1 A^10 B 4;  A: 5 6 7;  B: 8 C^20;  C: 9 9
  g.symbols = {{1, false, 1}, {1, true, 10}, {2, true, 1},  {4, false, 1}, {5, false, 1},
               {6, false, 1}, {7, false, 1}, {8, false, 1}, {3, true, 20}, {9, false, 2}};
  g.rule_end = {4, 7, 9, 10};
  const MainLoop loop = main_loop(g);
  EXPECT_EQ(loop.first, 1U + 30 + 1);
  EXPECT_EQ(loop.calls, 2U);
  EXPECT_EQ(loop.count, 20U);
  EXPECT_TRUE(loop.begins(34));
  EXPECT_FALSE(loop.begins(35));
  EXPECT_FALSE(loop.has(72));
}

}  // namespace
}  // namespace refrain::sim
