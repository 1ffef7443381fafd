#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace refrain::base {
namespace {

Result<int> half(int v) {
  if (v % 2 != 0) return usage("odd", "here");
  return v / 2;
}

TEST(Result, ValueOrError) {
  const Result<int> good = half(4);
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(*good, 2);
  const Result<int> bad = half(3);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, ErrorCode::kUsage);
  EXPECT_EQ(bad.error().to_string(), "here: odd");
  EXPECT_EQ(fail("what").to_string(), "what");
}

TEST(Result, MoveOnlyValues) {
  Result<std::unique_ptr<int>> r = std::make_unique<int>(3);
  ASSERT_TRUE(r.ok());
  const std::unique_ptr<int> p = std::move(*r);
  EXPECT_EQ(*p, 3);
}

TEST(Result, CodesAreExitStatuses) {
  EXPECT_EQ(static_cast<int>(fail("").code), 1);
  EXPECT_EQ(static_cast<int>(usage("").code), 2);
  EXPECT_EQ(static_cast<int>(unsupported("").code), 5);
}

}  // namespace
}  // namespace refrain::base
