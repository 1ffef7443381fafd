#include "reader/own_work.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "reader/test_trace.h"

namespace refrain::reader {
namespace {

// One rank, whose calls take 10 ns; the recorder worked `own_ns` between them in all, 500 ns of
// that in one piece behind call 2.
Trace made(uint64_t own_ns, const std::vector<uint64_t>& gaps) {
  TraceBuilder builder(1);
  ShapeWriter init("MPI_Init"), barrier("MPI_Barrier");
  std::vector<uint32_t> calls{builder.signature(init.none().none().none())};
  calls.resize(gaps.size() + 1, builder.signature(barrier.none().object(builder.world())));
  builder.group({0}, calls);
  std::vector<std::pair<uint64_t, uint64_t>> times{{0, 10}};
  for (const uint64_t gap : gaps)
    times.emplace_back(times.back().second + gap, times.back().second + gap + 10);
  builder.times(0, times);
  builder.data().totals[0].own_ns = own_ns;
  builder.data().own_work = {{0, 0, {{2, 500}}}};
  return builder.open();
}

// As users of it walk over the calls.
std::vector<uint64_t> left_of(const Trace& trace, const std::vector<uint64_t>& gaps) {
  OwnWorkAfter own_work(trace, 0, 0);
  std::vector<uint64_t> left{own_work.without_small(0)};
  uint64_t own = own_work(0);
  for (size_t i = 0; i < gaps.size(); ++i) {
    left.push_back(own_work.without_small(gaps[i] - std::min(gaps[i], own)));
    own = own_work(i + 1);
  }
  return left;
}

TEST(OwnWork, SmallWorkIsTakenOffEachGap) {
  const std::vector<uint64_t> gaps{100, 200, 600, 100, 300};
  // 240 ns are no piece: 40 for each of the 6 calls; the first one has no gap, the second pays.
  const std::vector<uint64_t> left = left_of(made(740, gaps), gaps);
  EXPECT_EQ(left, (std::vector<uint64_t>{0, 20, 160, 60, 60, 260}));
}

TEST(OwnWork, WhatAGapIsTooShortForIsTakenFromTheNext) {
  const std::vector<uint64_t> gaps{10, 10, 510, 10, 1000};
  const std::vector<uint64_t> left = left_of(made(740, gaps), gaps);
  EXPECT_EQ(left, (std::vector<uint64_t>{0, 0, 0, 0, 0, 800}));
}

TEST(OwnWork, WithoutSmallWorkGapsAreAsTheyWere) {
  const std::vector<uint64_t> gaps{10, 20, 530};
  EXPECT_EQ(left_of(made(500, gaps), gaps), (std::vector<uint64_t>{0, 10, 20, 30}));
  OwnWorkAfter never;
  EXPECT_EQ(never.without_small(7), 7u);
}

}  // namespace
}  // namespace refrain::reader
