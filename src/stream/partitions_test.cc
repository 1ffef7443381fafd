#include "stream/partitions.h"

#include <gtest/gtest.h>

namespace refrain::stream {
namespace {

using std::string_view_literals::operator""sv;

TEST(Partitions, AreByNameElseByCommandLine) {
  // Started as: 2 x "a 1", 1 x "a 2", then three that call themselves "x", with two command lines;
  // one is called "a 1".
  const std::vector<uint64_t> keys{partition_key("", "a 1"), partition_key("", "a 1"),
                                   partition_key("", "a 2"), partition_key("x", "a 1"),
                                   partition_key("x", "b"),  partition_key("", "a 1"),
                                   partition_key("a 1", "b")};
  const std::vector<Partition> found = partitions_of(keys);
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].ranks, (std::vector<int>{0, 1, 5}));
  EXPECT_EQ(found[1].ranks, (std::vector<int>{2}));
  EXPECT_EQ(found[2].ranks, (std::vector<int>{3, 4}));
  EXPECT_EQ(found[3].ranks, (std::vector<int>{6}));
}

TEST(Partitions, ACommandLineIsWordsWithBlanks) {
  EXPECT_EQ(command_line_of("./app\0-n\0\0003\0"sv), "./app -n  3");
  EXPECT_EQ(command_line_of(""), "");
  EXPECT_EQ(command_line_of(std::string(kMostName + 9, 'x')).size(), kMostName);
}

}  // namespace
}  // namespace refrain::stream
