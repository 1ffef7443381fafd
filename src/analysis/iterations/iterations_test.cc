#include "analysis/iterations/iterations.h"

#include <gtest/gtest.h>

namespace refrain::analysis {
namespace {

TEST(Trend, IsNamedWhereChanceDoesNotExplainIt) {
  const auto is_named = [](size_t iterations, double share, double fit) {
    IterationLoop loop;
    loop.rows.resize(iterations);
    loop.trend_share = share;
    loop.trend_fit = fit;
    return loop.has_clear_trend();
  };
  // The first or the last one of a few iterations was slow.
  EXPECT_FALSE(is_named(3, 2.4, 0.94));
  EXPECT_FALSE(is_named(4, -1.5, 0.8));
  EXPECT_FALSE(is_named(7, 1.5, 0.56));
  EXPECT_TRUE(is_named(3, 0.2, 0.999));
  EXPECT_TRUE(is_named(6, -1.6, 0.95));
  EXPECT_TRUE(is_named(8, 0.5, 0.5));
  EXPECT_FALSE(is_named(100, 0.5, 0.49));
  EXPECT_FALSE(is_named(100, 0.09, 0.99));
  EXPECT_FALSE(is_named(0, 0, 0));
}

}  // namespace
}  // namespace refrain::analysis
