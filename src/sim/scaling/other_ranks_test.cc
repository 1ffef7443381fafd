// Programs on three numbers of ranks, and on a fourth: what follows from the three is what it does
// there.
#include "sim/scaling/other_ranks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "reader/internal.h"
#include "sim/scaling/follow.h"
#include "sim/testing/programs.h"

namespace refrain::sim {
namespace {

using testing::Dims;
using Program = std::function<format::RankRecord(uint64_t rank, const Dims& dims)>;

uint64_t ranks_of(const Dims& dims) {
  uint64_t out = 1;
  for (const int64_t side : dims) out *= static_cast<uint64_t>(side);
  return out;
}

// Each rank is `outside_ns` outside of MPI.
Trace run_of(const Program& program, const Dims& dims, uint64_t outside_ns = 1000) {
  auto data = testing::merged(ranks_of(dims), [&](uint64_t rank) { return program(rank, dims); });
  EXPECT_TRUE(data.ok());
  data->totals.assign(ranks_of(dims), {});
  for (format::RankTotals& one : data->totals) one.outside_ns = outside_ns;
  auto trace = reader::trace_of(std::move(*data), "run", 0);
  EXPECT_TRUE(trace.ok()) << trace.error().message;
  return *trace;
}

// All that calls are made of.
void expect_same(const Trace& found, const Trace& wanted) {
  const format::TraceData& a = reader::data_of(found);
  const format::TraceData& b = reader::data_of(wanted);
  EXPECT_EQ(found.call_count(), wanted.call_count());
  EXPECT_EQ(a.definitions, b.definitions);
  EXPECT_EQ(a.tables, b.tables);
  EXPECT_EQ(a.grammars, b.grammars);
  ASSERT_EQ(a.signatures.size(), b.signatures.size());
  for (size_t i = 0; i < a.signatures.size(); ++i) {
    EXPECT_EQ(a.signatures.get(i).shape, b.signatures.get(i).shape) << i;
    EXPECT_EQ(a.signatures.get(i).slots, b.signatures.get(i).slots) << i;
  }
  ASSERT_EQ(a.groups.size(), b.groups.size());
  for (size_t g = 0; g < a.groups.size(); ++g) {
    EXPECT_EQ(a.groups[g].ranks, b.groups[g].ranks) << g;
    EXPECT_EQ(a.groups[g].places, b.groups[g].places) << g;
    EXPECT_EQ(a.groups[g].signatures, b.groups[g].signatures) << g;
  }
}

void expect_follows(const Program& program, const std::vector<Dims>& small, const Dims& large) {
  std::vector<Trace> traces;
  for (const Dims& dims : small) traces.push_back(run_of(program, dims));
  std::swap(traces[0], traces[2]);  // in any order
  const auto found = at_ranks(traces, ranks_of(large));
  ASSERT_TRUE(found.ok()) << found.error().message;
  expect_same(*found, run_of(program, large));
}

TEST(OtherRanks, ARing) {
  expect_follows([](uint64_t r, const Dims& d) { return testing::ring(r, d, 20, 5); },
                 {{8}, {16}, {32}}, {256});
}

TEST(OtherRanks, HalosOfMeshes) {
  for (const bool around : {false, true}) {
    const Program halo = [=](uint64_t r, const Dims& d) {
      return testing::halo(r, d, 20, around, 9);
    };
    expect_follows(halo, {{4, 4}, {8, 8}, {16, 16}}, {32, 32});
    expect_follows(halo, {{4, 4}, {5, 5}, {6, 6}}, {9, 9});
    // Two inner layers would be no loop.
    expect_follows(halo, {{5, 5, 5}, {6, 6, 6}, {7, 7, 7}}, {8, 8, 8});
  }
}

TEST(OtherRanks, CountsOfLoopsAndLengthsFollow) {
  // Steps grow with the side, messages shrink with the ranks.
  const Program program = [](uint64_t r, const Dims& d) {
    return testing::halo(r, d, 10 * static_cast<uint64_t>(d[0]), true, 4096 / (d[0] * d[0]));
  };
  expect_follows(program, {{4, 4}, {8, 8}, {16, 16}}, {32, 32});
}

TEST(OtherRanks, WavesOfLu) {
  expect_follows([](uint64_t r, const Dims& d) { return testing::lu(r, d, 3, 4); },
                 {{4, 4}, {8, 8}, {16, 16}}, {32, 32});
}

TEST(OtherRanks, TheFirstSignatureThatDoesNotFollowIsNamed) {
  const auto run = [](int64_t side, int64_t count) {
    return run_of([=](uint64_t r, const Dims& d) { return testing::halo(r, d, 20, true, count); },
                  {side, side});
  };
  const auto found = at_ranks({run(4, 3), run(8, 17), run(16, 18)}, 1024);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, base::ErrorCode::kUnsupported);
  EXPECT_NE(found.error().message.find("(MPI_Irecv) is 3, 17 and 18"), std::string::npos)
      << found.error().message;
  // Nor is there a square of 500 ranks.
  EXPECT_FALSE(at_ranks({run(4, 3), run(8, 3), run(16, 3)}, 500).ok());
}

TEST(OtherRanks, ThreeRunsOfDifferentSizesAreNeeded) {
  const auto run = [](int64_t ranks) {
    return run_of([](uint64_t r, const Dims& d) { return testing::ring(r, d, 5, 1); }, {ranks});
  };
  EXPECT_EQ(at_ranks({run(4), run(8)}, 16).error().code, base::ErrorCode::kUsage);
  EXPECT_EQ(at_ranks({run(4), run(8), run(8)}, 16).error().code, base::ErrorCode::kUsage);
}

TEST(OtherRanks, ComputationIsAPowerOfTheRanks) {
  std::vector<Trace> traces;
  for (const int64_t ranks : {8, 16, 64})
    traces.push_back(run_of([](uint64_t r, const Dims& d) { return testing::ring(r, d, 5, 1); },
                            {ranks}, 64'000'000 / static_cast<uint64_t>(ranks)));
  const auto found = at_ranks(traces, 512);
  ASSERT_TRUE(found.ok()) << found.error().message;
  for (const format::RankTotals& one : reader::data_of(*found).totals)
    EXPECT_NEAR(static_cast<double>(one.outside_ns), 125'000, 1);
}

TEST(Follow, TheSimplestRuleThatAgrees) {
  const Sizes squares{{16, 64, 256}, 1024};
  EXPECT_EQ(follow(squares, {7, 7, 7}), 7);
  EXPECT_EQ(follow(squares, {15, 63, 255}), 1023);
  EXPECT_EQ(follow(squares, {4, 8, 16}), 32);
  EXPECT_EQ(follow(squares, {12, 56, 240}), 992);  // N - side: the last row
  EXPECT_EQ(follow(squares, {4, 6, 8}), 10);       // log2 N
  EXPECT_EQ(follow(squares, {256, 64, 16}), 4);    // 4096 / N
  EXPECT_EQ(follow(squares, {64, 32, 16}), 8);     // 256 / side
  EXPECT_FALSE(follow(squares, {1, 2, 4}) == 1);
  EXPECT_FALSE(follow(squares, {3, 17, 18}));
  EXPECT_FALSE(follow({{16, 64, 256}, 500}, {4, 8, 16}));
  EXPECT_NEAR(follow_time(squares, {160, 640, 2560}), 10240, 1e-6);
}

}  // namespace
}  // namespace refrain::sim
