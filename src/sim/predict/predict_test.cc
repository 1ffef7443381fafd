// Plans, vectors, sweeps and drawn machines. Predictions of whole traces: tests/cli/predict.py.
#include "sim/predict/predict.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "format/encode/encode.h"
#include "reader/test_trace.h"
#include "sim/predict/recorded_spread.h"
#include "sim/testing/programs.h"

namespace refrain::sim {
namespace {

Machine machine() {
  const auto out = parse_machine(R"(version = 1
[distance.switch]
eager_limit = 100
unexpected_copy = 7
[[distance.switch.range]]
up_to = 50
L = { value = 1000, low = 900, high = 1200 }
o_send = 100
o_recv = 110
g = 10
G = { value = 0.5, low = 0.4, high = 0.6 }
cpu_per_byte = 0.25
[[distance.switch.range]]
L = 2000
o_send = 100
o_recv = 110
g = 10
G = 0.25
handshake = 400
[topology]
kind = "torus"
dimensions = [4]
link_bandwidth = 1e9
hop_latency = 50
[[node_kind]]
first = 0
count = 1
speed = 2.0
)",
                                 "m.toml");
  EXPECT_TRUE(out.ok());
  return *out;
}

TEST(Sweeps, AreReadAndRefused) {
  const auto two = parse_sweeps("bandwidth=1..4,latency=0.5..2:3");
  ASSERT_TRUE(two.ok());
  ASSERT_EQ(two->size(), 2U);
  ASSERT_EQ((*two)[0].factors.size(), 5U);
  EXPECT_EQ((*two)[0].part, SweptPart::kBandwidth);
  EXPECT_EQ((*two)[0].factors.front(), 1);
  EXPECT_DOUBLE_EQ((*two)[0].factors[2], 2);
  EXPECT_EQ((*two)[0].factors.back(), 4);
  EXPECT_EQ((*two)[1].factors.size(), 3U);
  EXPECT_DOUBLE_EQ((*two)[1].factors[1], 1);
  const auto one = parse_sweeps("compute=2");
  ASSERT_TRUE(one.ok());
  EXPECT_EQ((*one)[0].factors, std::vector<double>{2});
  for (const char* bad : {"", "bandwidth", "bandwidth=", "bandwidth=0..1", "bandwidth=-1", "moon=2",
                          "latency=1..", "latency=1..2:1", "latency=1..2:x", "latency=1..2,",
                          "latency=nan", "latency=1..2:2.5", "latency=1x", "compute=1e-300",
                          "compute=1..1e7", "latency=1..2:0", "latency=1..2:1000000000"}) {
    const auto none = parse_sweeps(bad);
    ASSERT_FALSE(none.ok()) << bad;
    EXPECT_EQ(none.error().code, base::ErrorCode::kUsage);
  }
}

TEST(Sweeps, ScaleWhatTheyName) {
  const Machine base = machine();
  const SizeRange& range = base.distances[2].ranges[1];
  const auto of = [](const Machine& m) -> const SizeRange& { return m.distances[2].ranges[1]; };
  const Machine bandwidth = scaled(base, SweptPart::kBandwidth, 2);
  EXPECT_EQ(of(bandwidth).gap_per_byte.value, range.gap_per_byte.value / 2);
  EXPECT_EQ(of(bandwidth).latency.value, range.latency.value);
  EXPECT_EQ(bandwidth.topology.link_bandwidth.value, 2e9);
  const Machine latency = scaled(base, SweptPart::kLatency, 0.5);
  EXPECT_EQ(of(latency).latency.value, 1000);
  EXPECT_EQ(of(latency).handshake.value, 200);
  EXPECT_EQ(latency.topology.hop_latency.value, 25);
  EXPECT_EQ(of(latency).gap_per_byte.value, range.gap_per_byte.value);
  const Machine overhead = scaled(base, SweptPart::kOverhead, 3);
  EXPECT_EQ(of(overhead).send.value, 300);
  EXPECT_EQ(overhead.distances[2].ranges[0].cpu_per_byte.value, 0.75);
  EXPECT_EQ(overhead.distances[2].unexpected_copy.value, 21);
  const Machine compute = scaled(base, SweptPart::kCompute, 3);
  EXPECT_EQ(compute.speed_of(0), 6);
  EXPECT_EQ(compute.speed_of(3), 3);
}

TEST(Drawn, ParametersKeepToTheirIntervals) {
  const Machine base = machine();
  size_t below = 0, inside = 0;
  constexpr int kMachines = 1000;
  for (uint64_t seed = 0; seed < kMachines; ++seed) {
    const Machine one = drawn(base, seed);
    const SizeRange& first = one.distances[2].ranges[0];
    below += first.latency.value < 1000 ? 1 : 0;
    inside += first.latency.value >= 900 && first.latency.value <= 1200 ? 1 : 0;
    EXPECT_EQ(first.send.value, 100);  // a plain number is one
    EXPECT_EQ(first.handshake.value, first.latency.value);
    EXPECT_EQ(one.distances[2].ranges[1].handshake.value, 400);
    EXPECT_EQ(one.distances[2].ranges[1].gap_per_byte.value, 0.25);
  }
  EXPECT_NEAR(static_cast<double>(below), 500, 70);
  EXPECT_NEAR(static_cast<double>(inside), 950, 30);
  EXPECT_EQ(drawn(base, 5).distances[2].ranges[0].latency.value,
            drawn(base, 5).distances[2].ranges[0].latency.value);
}

// On a torus most of the latency is of hops. A link that is as fast as 1/G is what G was measured
// on.
TEST(Drawn, LinksHaveIntervalsOrFollowG) {
  constexpr const char* kText = R"(version = 1
[distance.switch]
eager_limit = 100
[[distance.switch.range]]
L = 1000
o_send = 100
o_recv = 110
g = 10
G = { value = 0.5, low = 0.4, high = 0.6 }
[topology]
kind = "torus"
dimensions = [4]
link_bandwidth = 2e9
node_bandwidth = { value = 3e9, low = 2e9, high = 5e9 }
hop_latency = { value = 50, low = 40, high = 70 }
sharing = "by_hops"
)";
  const auto base = parse_machine(kText, "m.toml");
  ASSERT_TRUE(base.ok()) << base.error().message;
  EXPECT_TRUE(base->topology.shares_by_hops);
  double inside = 0, below = 0;
  constexpr int kMachines = 1000;
  for (uint64_t seed = 0; seed < kMachines; ++seed) {
    const Machine one = drawn(*base, seed);
    const double per_byte = one.distances[2].ranges[0].gap_per_byte.value;
    EXPECT_DOUBLE_EQ(one.topology.link_bandwidth.value, 1e9 / per_byte);
    const double hop = one.topology.hop_latency.value, node = one.topology.node_bandwidth.value;
    inside += hop >= 40 && hop <= 70 && node >= 2e9 && node <= 5e9 ? 1 : 0;
    below += hop < 50 ? 1 : 0;
    EXPECT_GT(node, 0);
  }
  EXPECT_NEAR(inside, 0.95 * 0.95 * kMachines, 40);
  EXPECT_NEAR(below, kMachines / 2, 70);
  for (const char* bad : {"link_bandwidth = { value = 1e9, low = 0, high = 2e9 }",
                          "sharing = \"x\"", "hop_latency = { value = 1, low = 2, high = 3 }"}) {
    std::string text = kText;
    text.replace(text.find("link_bandwidth = 2e9"), std::string::npos, bad);
    EXPECT_FALSE(parse_machine(text, "m.toml").ok()) << bad;
  }
}

TEST(Plans, AreReadAndRefused) {
  const auto good = parse_plan(
      R"({"plan": 1, "ranks": 3, "groups": [{"representative": 2, "ranks": [0, 2], "radius_ns": 40},
          {"representative": 1, "ranks": [1], "radius_ns": 0}]})",
      "p", 3);
  ASSERT_TRUE(good.ok()) << good.error().message;
  EXPECT_EQ(good->representative, (std::vector<Rank>{2, 1, 2}));
  EXPECT_EQ(good->radius_ns, (std::vector<double>{40, 0, 40}));
  const auto refused = [](const char* text, const char* part) {
    const auto out = parse_plan(text, "p", 2);
    ASSERT_FALSE(out.ok()) << text;
    EXPECT_EQ(out.error().code, base::ErrorCode::kUsage);
    EXPECT_NE(out.error().message.find(part), std::string::npos) << out.error().message;
  };
  refused("", "no plan");
  refused("[]", "no plan");
  refused(R"({"plan": 1, "ranks": 3, "groups": []})", "another number of ranks");
  refused(R"({"plan": 1, "ranks": 2, "groups": []})", "in no group");
  refused(R"({"plan": 1, "ranks": 2, "groups": [{"representative": 0}]})", "lacks");
  refused(R"({"plan": 1, "ranks": 2, "groups": [{"representative": 0, "ranks": [0, 2]}]})", "none");
  refused(R"({"plan": 1, "ranks": 2, "groups": [{"representative": 0, "ranks": [0, 0]}]})", "two");
  refused(R"({"plan": 1, "ranks": 2, "groups": [{"representative": 2, "ranks": [0]}]})", "lacks");
  EXPECT_EQ(plan_of_all(2).representative, (std::vector<Rank>{0, 1}));
}

// 400 ranks of sums 1000 whose chance has a deviation of 10, in two groups; those of the other
// group differ by what they are, too.
TEST(RecordedSpread, ChanceIsNotCountedTwice) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> chance(0, 10), own(0, 200);
  std::vector<double> sums, variances(400, 100);
  std::vector<std::vector<Rank>> groups(2);
  const auto differs = [](size_t rank) { return rank % 2 == 1; };
  for (Rank rank = 0; rank < 400; ++rank) {
    sums.push_back(1000 + chance(random) + (differs(static_cast<size_t>(rank)) ? own(random) : 0));
    groups[differs(static_cast<size_t>(rank)) ? 1 : 0].push_back(rank);
  }
  const RecordedSpread out = spread_of(sums, variances, groups);
  double alike = 0, different = 0;
  for (size_t i = 0; i < 400; ++i) {
    // Ranks that stay where they are have the chance of the recorded run in them, too.
    EXPECT_NEAR(out.deviation[i] * sums[i], differs(i) ? 10 * M_SQRT2 : 10, differs(i) ? 0.1 : 1.5);
    const double off = out.centre[i] * sums[i] - (i % 2 == 1 ? sums[i] : 1000);
    (i % 2 == 1 ? different : alike) += off * off / 200;
  }
  EXPECT_LT(std::sqrt(alike), 4);      // 10 without it
  EXPECT_LT(std::sqrt(different), 2);  // they stay where they are
  // Three ranks tell nothing.
  EXPECT_EQ(spread_of({1, 2, 3}, {1, 1, 1}, {{0, 1, 2}}).centre, (std::vector<double>{1, 1, 1}));
}

// Two ranks compute 1000 ns before each of 50 calls. On one of them the recorder works between
// every other two as well.
TEST(RecordedSpread, TheRecordersWorkIsNoChance) {
  constexpr uint64_t kOwnNs = 700;
  reader::TraceBuilder builder(2);
  reader::ShapeWriter barrier("MPI_Barrier");
  const uint32_t call = builder.signature(barrier.none().object(builder.world()));
  builder.group({0, 1}, std::vector<uint32_t>(51, call));
  format::OwnWork own{1, 0, {}};
  std::vector<std::pair<uint64_t, uint64_t>> plain{{0, 10}}, recorded{{0, 10}};
  for (uint64_t i = 1; i <= 50; ++i) {
    plain.emplace_back(plain.back().second + 1000, plain.back().second + 1010);
    const uint64_t own_ns = i % 2 == 0 ? kOwnNs : 0, end_ns = recorded.back().second + own_ns;
    recorded.emplace_back(end_ns + 1000, end_ns + 1010);
    if (own_ns > 0) own.pieces.push_back({i - 1, own_ns});
  }
  builder.times(0, plain);
  builder.times(1, recorded);
  builder.data().totals[1].own_ns = 25 * kOwnNs;
  builder.data().own_work = {own};
  const RecordedSpread out = recorded_spread(builder.open());
  EXPECT_EQ(out.deviation, (std::vector<double>{0, 0}));
}

// What one simulation has decoded serves the next one, on another machine, and changes nothing.
TEST(DecodedRanks, ServeSeveralSimulations) {
  const auto data = testing::merged(16, [](uint64_t rank) {
    return testing::lu(rank, {4, 4}, 3, 5);
  });
  ASSERT_TRUE(data.ok());
  const auto trace = Trace::from_bytes(*format::encode(*data), "lu");
  ASSERT_TRUE(trace.ok());
  const auto machine = parse_machine(testing::kSwitchMachine, "m.toml");
  ASSERT_TRUE(machine.ok());
  events::DecodedRanks decoded(*trace);
  std::vector<size_t> ops;
  for (const double factor : {1.0, 0.5, 4.0}) {
    const Machine other = scaled(*machine, SweptPart::kLatency, factor);
    SimulateOptions by_itself, with_others;
    with_others.decoded = &decoded;
    const auto one = simulate(*trace, other, by_itself);
    const auto again = simulate(*trace, other, with_others);
    ASSERT_TRUE(one.ok() && again.ok());
    EXPECT_EQ(one->predicted_ns, again->predicted_ns);
    EXPECT_EQ(one->messages, again->messages);
    EXPECT_EQ(one->events, again->events);
    EXPECT_GT(again->messages, 0U);
    for (size_t r = 0; r < one->ranks.size(); ++r)
      EXPECT_EQ(one->ranks[r].end, again->ranks[r].end) << r;
    ops.push_back(decoded.of(5).decoder.ops().size());
  }
  EXPECT_GT(ops[0], 0U);
  EXPECT_EQ(ops[1], ops[0]);
  EXPECT_EQ(ops[2], ops[0]);
}

TEST(UnitTimes, TheExpectedRangeGrowsWithTheSamples) {
  EXPECT_EQ(expected_range(1), 0);
  EXPECT_NEAR(expected_range(2), 2 / std::sqrt(M_PI), 1e-3);
  for (uint32_t n = 2; n < 100; ++n) EXPECT_LT(expected_range(n - 1), expected_range(n)) << n;
}

}  // namespace
}  // namespace refrain::sim
