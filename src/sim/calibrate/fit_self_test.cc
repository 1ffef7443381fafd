// Samples of messages to oneself that are made from known numbers, which lie in the intervals.
#include "sim/calibrate/fit_self.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "sim/machine/machine_text.h"

namespace refrain::sim {
namespace {

struct Truth {
  double up_to = 8192, small = 70, large = 900;  // of a message
  double per_byte = 0.02, copy = 25, copy_per_byte = 0.05;
  double of(double s) const { return (s > up_to ? large : small) + s * per_byte; }
};

// `level`: what all times of this start are off by.
Samples made(const Truth& truth, uint64_t seed, double level = 1) {
  constexpr int kTimes = 40, kLines = 4;
  constexpr uint64_t kCount = 16;
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise(1, 0.03);
  std::uniform_real_distribution<double> share(0, 1);
  Samples out;
  for (uint64_t s = 1; s <= 1 << 22; s *= 2)
    for (const SampleTest test : {SampleTest::kSelf, SampleTest::kSelfLate}) {
      SampleCell cell{test, s, kCount, 0, {}, {}, 0, {}};
      const auto x = static_cast<double>(s);
      const double more = test == SampleTest::kSelfLate ? truth.copy + x * truth.copy_per_byte : 0;
      for (int i = 0; i < kTimes; ++i)
        cell.ns.push_back(kCount * level * (truth.of(x) + more) * noise(random) *
                          (share(random) < 0.02 ? 20 : 1));
      cell.lines.assign(kLines, kTimes / kLines);
      out.cells.push_back(cell);
    }
  return out;
}

bool holds(const Parameter& p, double truth) { return p.low <= truth && truth <= p.high; }

TEST(FitSelf, WhatTheSamplesWereMadeFromLiesInTheIntervals) {
  const Truth truth;
  int held = 0, all = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const auto found = fit_self(made(truth, seed), {});
    ASSERT_TRUE(found.has_value());
    const Protocol& p = found->protocol;
    ASSERT_EQ(p.ranges.size(), 2U) << seed;
    EXPECT_EQ(p.eager_limit, UINT64_MAX);
    const SizeRange &small = p.range_of(8), &large = p.range_of(1 << 20);
    EXPECT_NE(&small, &large);
    EXPECT_GT(found->outliers, 0U);
    for (const auto& [parameter, value] : {std::pair(small.send, truth.small / 2),
                                           {large.receive, truth.large / 2},
                                           {small.cpu_per_byte, truth.per_byte / 2},
                                           {large.cpu_per_byte, truth.per_byte / 2},
                                           {p.unexpected_copy, truth.copy},
                                           {p.unexpected_copy_per_byte, truth.copy_per_byte}}) {
      ++all;
      held += holds(parameter, value) ? 1 : 0;
    }
    EXPECT_NEAR(small.send.value + small.receive.value, truth.small, 0.05 * truth.small);
  }
  EXPECT_GT(held, all * 85 / 100);
}

// Five starts that differ by 10 %: what one of them says is no more known than that.
TEST(FitSelf, StartsThatDifferWidenTheIntervals) {
  const Truth truth;
  int held = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> level(1, 0.1);
    Samples samples = made(truth, 100 * seed, level(random));
    for (uint64_t start = 1; start < 5; ++start)
      ASSERT_TRUE(join(samples, made(truth, 100 * seed + start, level(random)), "more").ok());
    const auto found = fit_self(samples, {});
    ASSERT_TRUE(found.has_value());
    held += holds(found->protocol.range_of(8).send, truth.small / 2) ? 1 : 0;
  }
  EXPECT_GT(held, 16);
}

TEST(FitSelf, WithoutSamplesThereIsNothing) {
  Samples samples = made(Truth(), 1);
  std::erase_if(samples.cells, [](const SampleCell& c) { return c.bytes > 1; });
  EXPECT_FALSE(fit_self(samples, {}).has_value());
}

TEST(FitSelf, TheMachineFileHasIt) {
  const auto found = fit_self(made(Truth(), 3), {});
  ASSERT_TRUE(found.has_value());
  Machine machine;
  machine.distances[0].ranges.emplace_back();
  machine.self = found->protocol;
  const auto read = parse_machine(machine_text(machine, {Distance::kCore}, "made up"), "m.toml");
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  ASSERT_TRUE(read->self.has_value());
  ASSERT_EQ(read->self->ranges.size(), 2U);
  EXPECT_EQ(read->self->ranges[0].up_to, found->protocol.ranges[0].up_to);
  EXPECT_NEAR(read->self->ranges[1].send.high, found->protocol.ranges[1].send.high, 1e-3);
  EXPECT_NEAR(read->self->unexpected_copy.value, found->protocol.unexpected_copy.value, 1e-3);
}

}  // namespace
}  // namespace refrain::sim
