// Runs whose chance is known: how many of them are in the interval that another one gives.
#include "sim/predict/run_noise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "format/encode/encode.h"
#include "format/testing/timed.h"
#include "sim/predict/predict.h"
#include "sim/testing/programs.h"

namespace refrain::sim {
namespace {

// From 0 to 1.
double random_of(uint64_t seed, uint64_t rank, uint64_t unit) {
  return static_cast<double>(scrambled(scrambled(scrambled(seed) + rank) + unit) >> 11) * 0x1p-53;
}

// ns of a unit of a rank in a run; units count from 1.
using Work = std::function<double(uint64_t seed, uint64_t rank, uint64_t unit)>;

// Calls of 10 ns, after each unit.
Trace run_of(const std::function<format::RankRecord(uint64_t)>& program, uint64_t ranks,
             const Work& work, uint64_t seed) {
  auto data = testing::merged(ranks, program);
  EXPECT_TRUE(data.ok());
  const auto plain = Trace::from_bytes(*format::encode(*data), "plain");
  EXPECT_TRUE(plain.ok());
  for (uint64_t rank = 0; rank < ranks; ++rank) {
    std::vector<std::pair<uint64_t, uint64_t>> times;
    uint64_t now = 0;
    for (uint64_t i = 0; i < plain->locations(static_cast<Rank>(rank))[0].calls; ++i) {
      if (i > 0) now += static_cast<uint64_t>(work(seed, rank, i));
      times.push_back({now, now + 10});
      now += 10;
    }
    format::add_times(*data, rank, 0, times);
  }
  auto out = Trace::from_bytes(*format::encode(*data), "timed");
  EXPECT_TRUE(out.ok());
  return *out;
}

Machine machine() {
  const auto out = parse_machine(testing::kSwitchMachine, "m.toml");
  EXPECT_TRUE(out.ok());
  return *out;
}

// The share of runs in the intervals of 90 % of others.
double coverage(const std::function<format::RankRecord(uint64_t)>& program, uint64_t ranks,
                const Work& work) {
  constexpr uint64_t kRecorded = 12, kRuns = 10;
  const Machine on = machine();
  std::vector<Time> runs;
  for (uint64_t seed = 100; seed < 100 + kRuns; ++seed)
    runs.push_back(simulate(run_of(program, ranks, work, seed), on, {})->predicted_ns);
  double inside = 0;
  for (uint64_t seed = 0; seed < kRecorded; ++seed) {
    const auto said = predict(run_of(program, ranks, work, seed), on, {});
    EXPECT_TRUE(said.ok());
    for (const Time run : runs) inside += run >= said->low_ns && run <= said->high_ns ? 1 : 0;
    // Not by being wide: chance of 5 % makes runs differ by less.
    EXPECT_LE(said->high_ns - said->low_ns, said->simulation.predicted_ns / 25);
  }
  return inside / static_cast<double>(kRecorded * kRuns);
}

constexpr double kWork = 50'000, kChance = 0.05;
double uniform(uint64_t seed, uint64_t rank, uint64_t unit) {
  return 1 + kChance * (2 * random_of(seed, rank, unit) - 1);
}

// Ranks wait for each other in each step: the slowest of each step make the run.
TEST(RunNoise, RunsOfRanksThatWaitForEachOther) {
  const auto program = [](uint64_t r) { return testing::halo(r, {8, 4}, 20, true, 10); };
  const double share = coverage(program, 32, [](uint64_t seed, uint64_t rank, uint64_t unit) {
    return unit % 9 == 1 ? kWork * uniform(seed, rank, unit) : 0;
  });
  EXPECT_GE(share, 0.85);
}

// ... with steps that take longer on all ranks, and ranks that take longer in all steps.
TEST(RunNoise, WhatIsNoChanceStays) {
  const auto program = [](uint64_t r) { return testing::halo(r, {8, 4}, 20, true, 10); };
  const double share = coverage(program, 32, [](uint64_t seed, uint64_t rank, uint64_t unit) {
    const double step = unit / 9 % 5 == 0 ? 3 : 1, own = rank < 12 ? 1.4 : 1;
    return unit % 9 == 1 ? kWork * step * own * uniform(seed, rank, unit) : 0;
  });
  EXPECT_GE(share, 0.85);
}

// One unit a rank: what ranks differ by says all that is known.
TEST(RunNoise, RunsOfOneUnit) {
  const auto program = [](uint64_t r) { return testing::halo(r, {8, 8}, 1, true, 10); };
  const double share = coverage(program, 64, [](uint64_t seed, uint64_t rank, uint64_t unit) {
    double sum = 0;
    for (uint64_t piece = 0; piece < 10 && unit == 1; ++piece)
      sum += kWork * uniform(seed, rank, piece);
    return sum;
  });
  EXPECT_GE(share, 0.85);
}

TEST(GroupNoise, TellsChanceFromWhatRanksAndStepsAre) {
  constexpr size_t kRanks = 48, kUnits = 60;
  std::vector<uint32_t> kinds(kUnits);
  for (size_t i = 0; i < kUnits; ++i) kinds[i] = i == 0 ? GroupNoise::kNoUnit : i % 2;
  const auto alike = [](size_t unit) { return unit % 7 == 0 ? 5000.0 : 1000.0; };
  const auto own = [](size_t rank) { return rank % 4 == 0 ? 1.3 : 1.0; };
  GroupNoise noise(kinds, 2);
  std::vector<double> units(kUnits);
  for (const bool is_first : {true, false}) {
    for (size_t rank = 0; rank < kRanks; ++rank) {
      // Units of kind 1 have chance, with a deviation of 10 %; ranks differ in those of kind 0.
      for (size_t i = 1; i < kUnits; ++i)
        units[i] = alike(i) *
                   (kinds[i] == 1 ? 1 + 0.1 * normal_of(scrambled(rank * kUnits + i)) : own(rank));
      is_first ? noise.add_to_levels(units) : noise.add_to_own(units);
    }
    is_first ? noise.end_levels() : noise.end_own();
  }
  EXPECT_FALSE(noise.has(0));
  for (size_t rank = 0; rank < kRanks; ++rank) {
    EXPECT_NEAR(noise.centre(rank, 28), 5000 * own(rank), 1e-3);
    EXPECT_NEAR(noise.centre(rank, 30), 1000 * own(rank), 1e-3);
    EXPECT_NEAR(noise.centre(rank, 35), 5000, 300);  // the mean of 48 has a deviation of 72
  }
  EXPECT_NEAR(noise.deviation(28), 0, 1e-3);
  EXPECT_NEAR(noise.deviation(35), 500, 50);
}

TEST(RunNoise, ShapesAreSmoothedWhereFewWereSeen) {
  std::vector<float> two;
  for (int i = 0; i < 64; ++i) two.push_back(i % 2 == 0 ? 3.0F : 5.0F);
  RunNoise few, many;
  few.set_shapes(two, 64, 64);
  many.set_shapes(two, 640, 64);
  double sum = 0, squares = 0;
  size_t others = 0;
  constexpr int kDraws = 20'000;
  for (uint64_t i = 0; i < kDraws; ++i) {
    const double one = few.shape(scrambled(i));
    sum += one, squares += one * one;
    EXPECT_EQ(std::abs(many.shape(scrambled(i))), 1);
    others += std::abs(one) > 1.2 ? 1 : 0;
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.03);
  EXPECT_NEAR(squares / kDraws, 1, 0.03);
  EXPECT_GT(others, 1000U);
}

}  // namespace
}  // namespace refrain::sim
