#include "similarity/evaluate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace refrain::similarity {
namespace {

TEST(ApproximationDistance, IsTheNinetiethPercentile) {
  ApproximationDistance d;
  EXPECT_EQ(d.percentile_ns(), 0);
  for (int i = 1; i <= 50; ++i) d.add(i % 2 == 0 ? i : -i);
  EXPECT_EQ(d.percentile_ns(), 45);
  EXPECT_EQ(d.percentile_ns(100), 50);
  EXPECT_EQ(d.percentile_ns(50), 25);
  EXPECT_EQ(d.largest_ns(), 50);
}

TEST(ApproximationDistance, IsCloseToTheExactOneInBoundedMemory) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 50; ++round) {
    ApproximationDistance parts[2];
    std::vector<double> all;
    const double scale = std::pow(10.0, 1 + round % 15);
    for (int i = 0; i < 1000; ++i) {
      all.push_back(std::floor(scale * static_cast<double>(random() % 100000) / 100000));
      parts[i % 2].add(all.back());
    }
    std::sort(all.begin(), all.end());
    parts[0].add(parts[1]);
    EXPECT_EQ(parts[0].count(), 1000u);
    const double exact = all[899];
    EXPECT_GE(parts[0].percentile_ns(), exact);
    EXPECT_LE(parts[0].percentile_ns(), exact * (1 + 1.0 / 32));
    EXPECT_EQ(parts[0].percentile_ns(100), all.back());
  }
}

// Figures 14 and 15 of the thesis, and its table 4: random-barrier with 4 processes.
TEST(SizeModels, TraditionalTraceOfTheThesis) {
  const std::vector<FullTraceRank> ranks = {
      {21, 550, 200}, {21, 250, 50}, {21, 250, 50}, {21, 250, 50}};
  // Events and messages: 2112 + 24000 + 19200 + 288 and 6336 + 28800 + 14400 + 864. The bytes that
  // the table has for event maps, 5769, do not follow from its E_n and N_s.
  EXPECT_EQ(full_trace_bytes(ranks, 39) - 4 * 21 * (39 + 5), 96000);
  EXPECT_EQ(full_trace_bytes({}, 39), 0);
  EXPECT_EQ(full_trace_bytes({{2, 10, 3}}, 10, {4, 48, 96}), 2 * 14 + 480 + 288);
}

TEST(SizeModels, TraceProfileOfTheThesis) {
  const TraceProfileGroup rank0 = {1, 52, {{44, 0}, {10, 4}, {10, 4}, {10, 4}, {6, 0}}};
  const TraceProfileGroup others = {1, 52, {{44, 0}, {4, 1}, {4, 1}, {4, 1}, {6, 0}}};
  EXPECT_EQ(trace_profile_bytes(23, 39, {rank0, others, others, others}), 11204);
  // One group of three ranks instead of three groups.
  TraceProfileGroup united = others;
  united.ranks = 3;
  const double one = 9 + 225 + 629 + 5 + 5 * 17 + 23 * 62 + 12 * 3;
  EXPECT_EQ(trace_profile_bytes(23, 39, {rank0, united}), 11204 - 2 * one + 2 * 4);
}

}  // namespace
}  // namespace refrain::similarity
