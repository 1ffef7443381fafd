#include "events/payload.h"

#include <gtest/gtest.h>

#include <limits>

namespace refrain::events {
namespace {

Value array(std::vector<Value> runs) {
  Value out;
  out.kind = ValueKind::kArray;
  out.items = std::move(runs);
  return out;
}

Value run(int64_t start, int64_t step, uint64_t count) {
  Value out = Value::integer(start);
  out.step = step;
  out.repeat = count;
  return out;
}

TEST(SumOfCounts, AddsRunsWithoutExpandingThem) {
  EXPECT_EQ(sum_of_counts(Value::integer(7)), 7U);
  EXPECT_EQ(sum_of_counts(Value::null()), 0U);
  EXPECT_EQ(sum_of_counts(array({run(3, 0, 4), run(1, 2, 3)})), 12U + 1 + 3 + 5);
  EXPECT_EQ(sum_of_counts(array({run(9, -3, 4)})), 9U + 6 + 3 + 0);
  EXPECT_EQ(sum_of_counts(array({run(0, 1, 2000000000)})), 1999999999ULL * 1000000000ULL);
}

TEST(SumOfCounts, StopsAtTheLargestNumber) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(sum_of_counts(array({run(kMost, 0, 4)})), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(sum_of_counts(array({run(1, kMost, 3)})), 0U);  // ends past the largest count
  EXPECT_EQ(sum_of_counts(array({run(-5, 1, 3)})), 0U);
  EXPECT_EQ(sum_of_counts(Value::integer(-5)), 0U);
}

TEST(Arithmetic, Saturates) {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(multiply(kMost, 2), kMost);
  EXPECT_EQ(multiply(3, 5), 15U);
  EXPECT_EQ(add(kMost, 1), kMost);
  EXPECT_EQ(add(3, 5), 8U);
}

}  // namespace
}  // namespace refrain::events
