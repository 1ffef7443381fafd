#include "base/text_file.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace refrain::base {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

std::string file_with(const std::string& text) {
  const std::string path = ::testing::TempDir() + "refrain_text_file";
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

TEST(TextFile, IsReadWhole) {
  const std::string text = std::string(100'000, 'x') + '\0' + "end\n";
  const std::string path = file_with(text);
  const auto read = read_text_file(path, "plan", kMiB);
  std::remove(path.c_str());
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, text);
}

TEST(TextFile, SaysWhyItCannotBeRead) {
  const auto missing = read_text_file("/nowhere/m.toml", "machine file", kMiB);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().message, "cannot read the machine file: No such file or directory");
  EXPECT_EQ(missing.error().place, "/nowhere/m.toml");
  const auto folder = read_text_file("/tmp", "plan", kMiB);
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.error().message, "cannot read the plan: Is a directory");
}

TEST(TextFile, EndsAtItsLimit) {
  const auto endless = read_text_file("/dev/zero", "plan", kMiB);
  ASSERT_FALSE(endless.ok());
  EXPECT_EQ(endless.error().code, usage("").code);
  EXPECT_EQ(endless.error().message, "a plan has at most 1 MiB");
}

TEST(RegularFile, IsReadWhole) {
  const std::string text = std::string(100'000, 'x') + '\0' + "end\n";
  const std::string path = file_with(text);
  const auto read = read_regular_file(path, "vectors");
  std::remove(path.c_str());
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, text);
}

TEST(RegularFile, IsNoDeviceWithoutAnEnd) {
  for (const char* device : {"/dev/zero", "/dev/full", "/dev/null"}) {
    const auto endless = read_regular_file(device, "vectors");
    ASSERT_FALSE(endless.ok());
    EXPECT_EQ(endless.error().message, "cannot read the vectors: not a regular file");
    EXPECT_EQ(endless.error().place, device);
  }
  EXPECT_EQ(read_regular_file("/tmp", "vectors").error().message,
            "cannot read the vectors: is a directory");
  EXPECT_EQ(read_regular_file("/nowhere/v.rfv", "vectors").error().message,
            "cannot read the vectors: No such file or directory");
}

}  // namespace
}  // namespace refrain::base
