#include "replay/pace/gap_means.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "reader/test_trace.h"

namespace refrain::replay {
namespace {

// Two ranks make calls of two signatures; statistics are over both, totals are their own.
struct TwoRanks {
  TwoRanks() : builder(2) {
    reader::ShapeWriter a("MPI_Barrier"), b("MPI_Allreduce");
    const uint32_t world = builder.world(), type = builder.predefined_type("MPI_INT", 4);
    a.none().object(world);
    b.none().none().none().integer(1).object(type).none().object(world);
    first = builder.signature(a);
    second = builder.signature(b);
    std::vector<uint32_t> calls;
    for (int i = 0; i < 1000; ++i) calls.insert(calls.end(), {first, first, second});
    builder.group({0}, calls);
    calls.resize(900);
    builder.group({1}, calls);
    auto& gaps = builder.data().gaps;
    gaps.resize(2);
    gaps[first] = {2600, 1, 2000, 2600 * 700.0, {}};
    gaps[first].histogram.add(3, 1300);
    gaps[first].histogram.add(10, 1300);
    gaps[second] = {1300, 1, 40000, 1300 * 9000.0, {}};
    gaps[second].histogram.add(0, 130);
    gaps[second].histogram.add(13, 1170);
    builder.data().totals[0].outside_ns = 12345679;
    builder.data().totals[1].outside_ns = 777;
  }
  reader::TraceBuilder builder;
  uint32_t first = 0, second = 0;
};

// All gaps of a rank, by signature.
std::map<uint32_t, std::vector<uint64_t>> gaps_in(const Trace& trace, Rank rank, Gaps gaps) {
  const auto source = gaps_of(trace, rank, 0, gaps);
  RankReader reader(trace, rank);
  auto cursor = reader.cursor(0);
  std::map<uint32_t, std::vector<uint64_t>> out;
  while (const Call* const call = cursor->next()) {
    events::Op op;
    op.signature = call->signature;
    events::StagedCall staged;
    staged.op = &op;
    out[call->signature->id].push_back(source->before(staged));
  }
  return out;
}

TEST(Gaps, OfStatisticsSumUpToWhatEachRankDidOutsideOfMpi) {
  TwoRanks run;
  const Trace trace = run.builder.open();
  for (const Gaps gaps : {Gaps::kMean, Gaps::kHistogram})
    for (Rank rank = 0; rank < 2; ++rank) {
      uint64_t sum = 0;
      for (const auto& [signature, all] : gaps_in(trace, rank, gaps))
        for (const uint64_t gap : all) sum += gap;
      const uint64_t outside = rank == 0 ? 12345679 : 777;
      EXPECT_NEAR(static_cast<double>(sum), static_cast<double>(outside), 1) << rank;
    }
}

TEST(Gaps, OfHistogramsAreSpreadAsTheHistogramIs) {
  TwoRanks run;
  const Trace trace = run.builder.open();
  const auto all = gaps_in(trace, 0, Gaps::kHistogram);
  // One factor scales both; half of the first signature's gaps are 2^3 to 2^4, half 2^10 to 2^11.
  const std::vector<uint64_t>& first = all.at(run.first);
  ASSERT_EQ(first.size(), 2000U);
  std::vector<uint64_t> sorted = first;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_NEAR(static_cast<double>(sorted[1999]) / static_cast<double>(sorted[1000]), 2, 0.05);
  EXPECT_NEAR(static_cast<double>(sorted[1000]) / static_cast<double>(sorted[0]), 128, 20);
  EXPECT_GT(sorted[1000], 60 * sorted[999]);
  // Short and long ones take turns: no half has more than two thirds of either.
  const uint64_t middle = (sorted[999] + sorted[1000]) / 2;
  const auto longs = std::count_if(first.begin(), first.begin() + 1000,
                                   [&](uint64_t gap) { return gap > middle; });
  EXPECT_GT(longs, 333);
  EXPECT_LT(longs, 667);
  const std::vector<uint64_t>& second = all.at(run.second);
  EXPECT_EQ(std::count_if(second.begin(), second.end(), [](uint64_t g) { return g < 100; }), 100);
}

TEST(Gaps, SayWhereTheyComeFrom) {
  TwoRanks run;
  const Trace trace = run.builder.open();
  Pace::Options options;
  EXPECT_EQ(compute_from(trace, options), "none");
  options.compute = Compute::kSleep;
  EXPECT_EQ(compute_from(trace, options), "gaps_mean");
  options.gaps = Gaps::kHistogram;
  EXPECT_EQ(compute_from(trace, options), "gaps_histogram");
  run.builder.data().gaps.clear();
  EXPECT_EQ(compute_from(run.builder.open(), options), "none");
}

}  // namespace
}  // namespace refrain::replay
