// Regressions over made-up runs whose law is known.
#include "sim/predict/regression.h"

#include <gtest/gtest.h>

#include <cmath>

namespace refrain::sim {
namespace {

TEST(Regression, ALawIsFoundAgain) {
  // T = 3 x^2 y^-0.5 q^-0.9, and one with a quadratic g of q itself.
  for (const bool is_power : {true, false}) {
    const auto law = [&](double x, double y, double q) {
      return 3 * x * x / std::sqrt(y) *
             (is_power ? std::pow(q, -0.9) : std::exp2(0.01 * q - 0.0001 * q * q));
    };
    std::vector<RegressionRun> runs;
    for (const uint64_t q : {2, 4, 8, 16, 32, 64})
      for (const double x : {10.0, 20.0, 35.0}) {
        const double y = x + static_cast<double>(q % 7);
        runs.push_back({q, law(x, y, static_cast<double>(q)), {x, y}});
      }
    const auto found = regress(runs, {100, 0, {50, 20}});
    ASSERT_TRUE(found.ok());
    EXPECT_NEAR(found->models.front().seconds / law(50, 20, 100), 1, 1e-6);
    EXPECT_NEAR(found->models.front().coefficients[1], 2, 1e-6);
    EXPECT_NEAR(found->models.front().coefficients[2], -0.5, 1e-6);
    // p0 = 16 and 32, and all; 64 is all. Four forms of g each, but for those that grow beyond all
    // numbers from 64 ranks to 100.
    EXPECT_LE(found->models.size(), 12U);
    EXPECT_GE(found->models.size(), 9U);
  }
}

TEST(Regression, RunsThatDoNotTellCoefficientsApart) {
  EXPECT_FALSE(regress({{4, 2.0, {}}}, {8, 0, {}}).ok());
  EXPECT_FALSE(regress({{4, 2.0, {}}, {4, 3.0, {}}, {4, 2.5, {}}}, {8, 0, {}}).ok());
  const auto two = regress({{4, 2.0, {}}, {8, 1.0, {}}}, {16, 0, {}});
  ASSERT_TRUE(two.ok());
  EXPECT_EQ(two->models.front().error, -1);  // nothing is left to compare with
}

// With twice the ranks it takes a thousand times as long: on 1024 that is beyond all numbers.
TEST(Regression, WhatGrowsWithoutABoundIsNoResult) {
  const std::vector<RegressionRun> runs = {{4, 1, {}}, {8, 1e3, {}}};
  EXPECT_FALSE(regress(runs, {1024, 0, {}}).ok());
  const auto near = regress(runs, {10, 0, {}});
  ASSERT_TRUE(near.ok());
  for (const RegressionModel& model : near->models) EXPECT_LE(model.seconds, 2e9);
}

TEST(Regression, InputsAreFoundInCommands) {
  const std::vector<std::string> commands = {"./heat -n 100 x=3", "./heat --n=200 x=4"};
  const auto n = parse_input("n=400", commands);
  ASSERT_TRUE(n.ok());
  EXPECT_EQ(n->of_runs, (std::vector<double>{100, 200}));
  EXPECT_EQ(n->of_target, 400);
  EXPECT_EQ(parse_input("x=9", commands)->of_runs, (std::vector<double>{3, 4}));
  EXPECT_EQ(parse_input("z=1,2:9", commands)->of_runs, (std::vector<double>{1, 2}));
  for (const char* bad : {"n", "=3", "n=", "n=-1", "n=x", "z=4", "z=1:4", "z=1,2,3:4", "z=1,:4"})
    EXPECT_FALSE(parse_input(bad, commands).ok()) << bad;
}

}  // namespace
}  // namespace refrain::sim
