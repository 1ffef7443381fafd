#include "mpi/size_bounds.h"

#include <gtest/gtest.h>

namespace refrain::mpi {
namespace {

TEST(SizeBounds, NoWordsKeepEverything) {
  const auto bounds = SizeBounds::parse("", "");
  ASSERT_TRUE(bounds.ok());
  EXPECT_FALSE(bounds->leaves_out());
  EXPECT_TRUE(bounds->keeps(0));
  EXPECT_TRUE(bounds->keeps(UINT64_MAX));
}

TEST(SizeBounds, BothBoundsBelongToWhatIsKept) {
  const auto bounds = SizeBounds::parse("8", "2K");
  ASSERT_TRUE(bounds.ok());
  EXPECT_TRUE(bounds->leaves_out());
  for (const uint64_t kept : {8, 9, 2048}) EXPECT_TRUE(bounds->keeps(kept)) << kept;
  for (const uint64_t gone : {0, 7, 2049}) EXPECT_FALSE(bounds->keeps(gone)) << gone;
}

TEST(SizeBounds, OneBoundAlone) {
  EXPECT_TRUE(SizeBounds::parse("1", "")->keeps(UINT64_MAX));
  EXPECT_FALSE(SizeBounds::parse("1", "")->keeps(0));
  EXPECT_TRUE(SizeBounds::parse("", "0")->keeps(0));
  EXPECT_FALSE(SizeBounds::parse("", "0")->keeps(1));
}

TEST(SizeBounds, MessagesOfWhichOnlyALowerBoundIsKnown) {
  const SizeBounds min{100, UINT64_MAX}, max{0, 100}, both{50, 100};
  EXPECT_TRUE(min.keeps_all_beyond(99));
  EXPECT_FALSE(min.keeps_all_beyond(98));
  EXPECT_FALSE(min.keeps_none_beyond(5));
  EXPECT_TRUE(max.keeps_none_beyond(100));
  EXPECT_FALSE(max.keeps_none_beyond(99));
  EXPECT_FALSE(max.keeps_all_beyond(5));
  EXPECT_FALSE(both.keeps_all_beyond(60));
  EXPECT_FALSE(both.keeps_none_beyond(60));
}

TEST(SizeBounds, WordsThatAreNoSizes) {
  for (const char* word :
       {"x", "-1", "1KB", "1.5", "1.M", ".5M", " ", "99999999999999999999", "K"}) {
    const auto bounds = SizeBounds::parse(word, "");
    ASSERT_FALSE(bounds.ok()) << word;
    EXPECT_NE(bounds.error().message.find(word), std::string::npos);
    EXPECT_FALSE(SizeBounds::parse("", word).ok()) << word;
  }
  const auto crossed = SizeBounds::parse("2K", "1K");
  ASSERT_FALSE(crossed.ok());
  EXPECT_NE(crossed.error().message.find("--max-bytes 1K"), std::string::npos);
}

}  // namespace
}  // namespace refrain::mpi
