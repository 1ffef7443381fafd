#include "analysis/window.h"

#include <gtest/gtest.h>

namespace refrain::analysis {
namespace {

TEST(Window, CountsParts) {
  const Window window{100, 200};
  EXPECT_EQ(window.part(0, 100), 0U);
  EXPECT_EQ(window.part(50, 150), 50U);
  EXPECT_EQ(window.part(120, 130), 10U);
  EXPECT_EQ(window.part(0, 1000), 100U);
  EXPECT_EQ(window.part(130, 120), 0U);
  EXPECT_TRUE(window.has(100));
  EXPECT_FALSE(window.has(200));
  EXPECT_TRUE(Window().is_all());
  EXPECT_EQ(Window().part(3, 10), 7U);
}

}  // namespace
}  // namespace refrain::analysis
