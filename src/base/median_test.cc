#include "base/median.h"

#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace refrain::base {
namespace {

template <class T>
T of(std::vector<T> values) {
  return median(std::span(values));
}

TEST(Median, IsTheValueInTheMiddle) {
  EXPECT_EQ(of<double>({}), 0);
  EXPECT_EQ(of<double>({7}), 7);
  EXPECT_EQ(of<double>({9, 1, 5}), 5);
  EXPECT_EQ(of<double>({9, 1, 5, 2, 5}), 5);
}

TEST(Median, OfAnEvenNumberLiesBetweenTheTwoInTheMiddle) {
  EXPECT_EQ(of<double>({4, 1, 3, 100}), 3.5);
  EXPECT_EQ(of<uint64_t>({4, 1}), 2u);
  EXPECT_EQ(of<uint64_t>({8, 2, 100, 1}), 5u);
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(of<uint64_t>({kMost, kMost - 2}), kMost - 1);
}

}  // namespace
}  // namespace refrain::base
