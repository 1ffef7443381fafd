#include "analysis/iterations/iterations.h"

#include <gtest/gtest.h>

#include "analysis/iterations/likeness.h"

namespace refrain::analysis {
namespace {

TEST(LoopsByCall, AreThoseThatMakeACallThatTheLoopMakes) {
  using iterations::LocalLoop;
  iterations::LoopsByCall loops;
  const LocalLoop first{"", {{7, 10}, {8, 10}, {9, 20}}, 10}, second{"", {{1, 5}}, 5},
      third{"", {{8, 4}, {10, 4}}, 4};
  loops.add(0, first);
  loops.add(1, second);
  loops.add(3, third);
  using Shared = std::vector<std::pair<size_t, size_t>>;
  EXPECT_EQ(loops.sharing({"", {{8, 1}, {9, 1}, {11, 1}}, 1}), (Shared{{0, 2}, {3, 1}}));
  EXPECT_EQ(loops.sharing({"", {{1, 1}}, 1}), (Shared{{1, 1}}));
  EXPECT_EQ(loops.sharing({"", {{2, 1}}, 1}), Shared());
  // Of four calls two, in as many iterations; or with a call that comes as often in each.
  EXPECT_EQ(iterations::likeness(first, 10, {"", {{8, 9}, {9, 9}, {11, 9}}, 9}, 2), 0.5);
  EXPECT_EQ(iterations::likeness(first, 10, {"", {{8, 3}, {9, 3}, {11, 3}}, 3}, 2), 0.5);
  EXPECT_EQ(iterations::likeness(first, 10, {"", {{8, 30}, {9, 3}, {11, 3}}, 3}, 2), 0);
  // Too few calls of both.
  EXPECT_EQ(iterations::likeness(first, 10, {"", {{8, 10}, {10, 1}, {11, 1}}, 10}, 1), 0);
}

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
