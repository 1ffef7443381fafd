// Computation from ranks that ran alone.
#include "sim/predict/unit_times.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "reader/test_trace.h"
#include "sim/predict/predict.h"

namespace refrain::sim {
namespace {

constexpr uint64_t kBarriers = 2000;

// Two ranks that meet behind each unit.
Trace barriers() {
  reader::TraceBuilder builder(2);
  reader::ShapeWriter barrier("MPI_Barrier");
  const uint32_t call = builder.signature(barrier.none().object(builder.world()));
  builder.group({0, 1}, std::vector<uint32_t>(kBarriers + 1, call));
  return builder.open();
}

// Of `runs` runs, the fastest took 900 ns for each unit, the slowest 1200, the others 1000.
format::vectors::VectorFile vectors(uint32_t runs) {
  format::vectors::VectorFile out;
  out.ranks = 2;
  for (uint32_t rank = 0; rank < 2; ++rank) {
    format::vectors::Vector one;
    one.rank = rank;
    one.runs = runs;
    one.least_ns.assign(kBarriers, runs > 1 ? 900 : 1000);
    one.median_ns.assign(kBarriers, 1000);
    one.spread_ns.assign(kBarriers, runs > 1 ? 300 : 0);
    out.vectors.push_back(std::move(one));
  }
  return out;
}

// Without a network.
Machine free_machine() {
  const auto out = parse_machine(
      "version = 1\n[distance.core]\neager_limit = 65536\n[[distance.core.range]]\nL = 0\no_send = "
      "0\no_recv = 0\n"
      "g = 0\nG = 0\n",
      "m.toml");
  EXPECT_TRUE(out.ok()) << out.error().to_string();
  return *out;
}

Prediction predicted(uint32_t runs, uint64_t seed, double skip = 0) {
  const Trace trace = barriers();
  Plan alone;
  alone.representative = {0, 1};
  alone.radius_ns = {0, 0};
  auto units = UnitTimes::make(trace, vectors(runs), "run.rfv", alone);
  EXPECT_TRUE(units.ok()) << units.error().to_string();
  PredictOptions options;
  options.times = &*units;
  options.draws = 9;
  options.seed = seed;
  options.threads = 1;
  options.simulate.skip_share = skip;
  auto out = predict(trace, free_machine(), options);
  EXPECT_TRUE(out.ok()) << out.error().to_string();
  return std::move(*out);
}

// The slower one of two draws: 1200 ns in 9 of 25 iterations, 900 in one, 1000 in the others.
TEST(UnitTimes, RanksWaitForTheSlowerDrawOfEachIteration) {
  constexpr double kWanted = kBarriers * (9.0 * 1200 + 900 + 15 * 1000) / 25;
  const Prediction one = predicted(5, 1), other = predicted(5, 2);
  for (const Prediction* p : {&one, &other}) {
    EXPECT_NEAR(static_cast<double>(p->simulation.predicted_ns), kWanted, 0.01 * kWanted);
    for (const Time draw : p->draws)
      EXPECT_NEAR(static_cast<double>(draw), kWanted, 0.02 * kWanted);
    EXPECT_LT(p->draws.front(), p->draws.back());
  }
  EXPECT_NE(one.simulation.predicted_ns, other.simulation.predicted_ns);
  EXPECT_EQ(one.simulation.predicted_ns, predicted(5, 1).simulation.predicted_ns);
}

TEST(UnitTimes, OneRunHasNoChance) {
  EXPECT_EQ(predicted(1, 1).simulation.predicted_ns, Time{1000 * kBarriers});
}

// Iterations that are left out are like those that are simulated.
TEST(UnitTimes, WhereIterationsAreSkippedUnitsAreMedians) {
  EXPECT_EQ(predicted(5, 1, 0.005).simulation.predicted_ns, Time{1000 * kBarriers});
}

// Vectors of five runs on a machine whose runs differ by `share` as a whole.
format::vectors::VectorFile runs_of(double share, std::mt19937_64& random) {
  constexpr uint32_t kRuns = 5;
  std::normal_distribution<double> normal;
  format::vectors::VectorFile out = vectors(1);
  for (format::vectors::Vector& one : out.vectors) {
    one.runs = kRuns;
    std::vector<double> levels(kRuns);
    for (double& level : levels) level = 1000 * std::exp(share * normal(random));
    for (const double level : levels)
      one.totals_ns.push_back(static_cast<uint64_t>(level * kBarriers));
    std::sort(levels.begin(), levels.end());
    one.least_ns.assign(kBarriers, static_cast<uint64_t>(levels.front()));
    one.median_ns.assign(kBarriers, static_cast<uint64_t>(levels[kRuns / 2]));
    one.spread_ns.assign(kBarriers, static_cast<uint64_t>(levels.back() - levels.front()));
  }
  return out;
}

// Runs that differ as a whole are in the interval of 90 % as often as it says, though the median of
// five runs is all that is known of each unit.
TEST(UnitTimes, TheIntervalHasRunsThatDifferAsAWhole) {
  constexpr double kShare = 0.03;
  constexpr int kTries = 40, kOthers = 20;
  const Trace trace = barriers();
  Plan alone;
  alone.representative = {0, 1};
  alone.radius_ns = {0, 0};
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  int inside = 0;
  double widths = 0;
  for (int i = 0; i < kTries; ++i) {
    auto units = UnitTimes::make(trace, runs_of(kShare, random), "run.rfv", alone);
    ASSERT_TRUE(units.ok()) << units.error().to_string();
    EXPECT_EQ(units->run_deviation().freedom, 8);
    PredictOptions options;
    options.times = &*units;
    options.seed = static_cast<uint64_t>(i) + 1;
    const auto out = predict(trace, free_machine(), options);
    ASSERT_TRUE(out.ok()) << out.error().to_string();
    widths += static_cast<double>(out->high_ns - out->low_ns) / 2 / (1000.0 * kBarriers) / kTries;
    for (int k = 0; k < kOthers; ++k) {
      const auto run = static_cast<Time>(1000 * kBarriers * std::exp(kShare * normal(random)));
      inside += out->low_ns <= run && run <= out->high_ns ? 1 : 0;
    }
  }
  EXPECT_GT(inside, kTries * kOthers * 80 / 100);
  EXPECT_LT(inside, kTries * kOthers * 98 / 100);
  EXPECT_LT(widths, 3 * kShare);
}

TEST(UnitTimes, RunsThatDifferByTheirUnitsOnlyDoNotAsAWhole) {
  const Trace trace = barriers();
  Plan alone;
  alone.representative = {0, 1};
  alone.radius_ns = {0, 0};
  format::vectors::VectorFile file = vectors(5);
  const auto made = [&] { return UnitTimes::make(trace, file, "run.rfv", alone); };
  EXPECT_EQ(made()->run_deviation().deviation, 0);  // version 1.0: not known
  // 129 ns of deviation in each unit, 5770 in 2000.
  for (format::vectors::Vector& one : file.vectors)
    one.totals_ns = {2000000, 2005000, 1995000, 2003000, 1998000};
  EXPECT_EQ(made()->run_deviation().deviation, 0);
  for (format::vectors::Vector& one : file.vectors)
    one.totals_ns = {2000000, 2100000, 1900000, 2060000, 1940000};
  EXPECT_NEAR(made()->run_deviation().deviation, 0.0452, 0.0005);
}

}  // namespace
}  // namespace refrain::sim
