// Several good runs: their mean and their spread.
#include "analysis/diff/repeats.h"

#include <gtest/gtest.h>

#include <random>

namespace refrain::analysis::diff {
namespace {

Diff run(double before, double after, DefinitionId path = 7) {
  Diff out;
  out.sides[0].has_waits = out.sides[1].has_waits = true;
  out.before.time_ns = before;
  out.after.time_ns = after;
  out.before.waits_ns = before / 2;
  CallChange call;
  call.is_before = call.is_after = true;
  call.path_before = path + 100;
  call.path_after = path;
  call.before.time_ns = before / 4;
  call.time_noise_ns = 1;
  out.calls.push_back(call);
  out.waits.push_back({waits::Pattern::kLateSender, {before / 8, 0, 1}});
  return out;
}

TEST(Repeats, OneMoreRunOfTheSameIsRarelyPastTheNoise) {
  std::mt19937 random(1);
  std::normal_distribution<double> time(1000, 150);
  for (const size_t runs : {2, 3, 5, 9, 20}) {
    int past = 0;
    for (int i = 0; i < 2000; ++i) {
      std::vector<double> values;
      for (size_t k = 0; k < runs; ++k) values.push_back(time(random));
      double mean = 0;
      for (const double v : values) mean += v / static_cast<double>(runs);
      past += std::abs(time(random) - mean) > prediction_noise(values) ? 1 : 0;
    }
    EXPECT_LE(past, 40) << runs;  // 1 % of 2000, and what chance adds
  }
}

TEST(Repeats, AChangeOfManyDeviationsIsSeen) {
  EXPECT_LT(prediction_noise({1000, 1010, 990}), 200);
  EXPECT_GT(prediction_noise({1000, 1300, 700}), 2500);
  EXPECT_EQ(prediction_noise({1000}), 0);
}

TEST(Repeats, TimesAndWaitsAreMeansAndNoiseIsTheirSpread) {
  Diff diff = run(800, 1000);
  diff.time_noise_ns = diff.calls[0].time_noise_ns = diff.waits[0].ns.noise = 1e6;
  use_repeats(diff, {run(1000, 1000), run(1200, 1000)});
  EXPECT_EQ(diff.baselines, 3u);
  EXPECT_DOUBLE_EQ(diff.before.time_ns, 1000);
  EXPECT_DOUBLE_EQ(diff.time_noise_ns, prediction_noise({800, 1000, 1200}));
  EXPECT_DOUBLE_EQ(diff.calls[0].before.time_ns, 250);
  EXPECT_DOUBLE_EQ(diff.calls[0].time_noise_ns, prediction_noise({200, 250, 300}));
  EXPECT_DOUBLE_EQ(diff.before.waits_ns, 500);
  EXPECT_DOUBLE_EQ(diff.waits[0].ns.before, 125);
  EXPECT_DOUBLE_EQ(diff.waits[0].ns.noise, prediction_noise({100, 125, 150}));
}

TEST(Repeats, RunsThatAgreeLeaveAQuarter) {
  Diff diff = run(1000, 1200);
  use_repeats(diff, {run(1000, 1200), run(1000, 1200)});
  EXPECT_DOUBLE_EQ(diff.time_noise_ns, 300);
  Diff two = run(1000, 1200);
  two.time_noise_ns = 700;
  use_repeats(two, {run(1000, 1200)});
  EXPECT_DOUBLE_EQ(two.time_noise_ns, 700);
  Diff large = run(1000, 1200);
  large.calls[0].before.time_ns = 4;
  Diff other = large;
  use_repeats(large, {other, other});
  EXPECT_DOUBLE_EQ(large.calls[0].time_noise_ns, 50);  // a twentieth of all
}

TEST(Repeats, WhatOnlyOneRunHasKeepsItsNoise) {
  Diff diff = run(800, 1000);
  use_repeats(diff, {run(1000, 1000, 8)});
  EXPECT_EQ(diff.calls[0].time_noise_ns, 1);
  EXPECT_EQ(diff.calls[0].before.time_ns, 200);
  Diff alone = run(800, 1000);
  use_repeats(alone, {});
  EXPECT_EQ(alone.baselines, 1u);
  EXPECT_EQ(alone.before.time_ns, 800);
}

}  // namespace
}  // namespace refrain::analysis::diff
