#include "cli/launch/elf_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "cli/launch/library_search.h"

namespace refrain::cli {
namespace {

std::string self() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

std::string write_file(const std::string& name, const std::string& bytes) {
  const std::string path = testing::TempDir() + name + std::to_string(getpid());
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

TEST(ReadElf, ReadsItsOwnProgram) {
  const auto file = read_elf(self());
  ASSERT_TRUE(file.ok()) << file.error().to_string();
  EXPECT_TRUE(file->is_native);
  EXPECT_TRUE(file->is_dynamic);
  EXPECT_FALSE(file->interpreter.empty());
  EXPECT_NE(std::find(file->needed.begin(), file->needed.end(), "libc.so.6"), file->needed.end());
  EXPECT_FALSE(file->defines_mpi);
}

TEST(ReadElf, FindsWhatAProgramCanStart) {
  // Symbols are read of programs that could run here.
  if (!read_elf("/bin/bash")->is_native) GTEST_SKIP() << "run by an emulator";
  EXPECT_TRUE(read_elf("/bin/bash")->may_load_more);
  EXPECT_FALSE(read_elf("/bin/true")->may_load_more);
}

TEST(ReadElf, RefusesOtherFiles) {
  EXPECT_EQ(read_elf("/no/such/file").error().code, base::ErrorCode::kFailed);
  EXPECT_EQ(read_elf("/etc/passwd").error().code, base::ErrorCode::kUsage);
  const std::string empty = write_file("empty", "");
  EXPECT_EQ(read_elf(empty).error().code, base::ErrorCode::kUsage);
  std::filesystem::remove(empty);
}

TEST(ReadElf, SurvivesDamage) {
  const std::string good = read_file("/bin/true");
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    std::string bad = good;
    for (int k = 0; k < 8; ++k) {  // half of them in the headers
      const size_t room = k % 2 == 0 ? std::min<size_t>(bad.size(), 1024) : bad.size();
      bad[random() % room] = static_cast<char>(random());
    }
    if (i % 3 == 0) bad.resize(random() % bad.size());
    const std::string path = write_file("damaged", bad);
    const auto file = read_elf(path);
    if (file.ok()) {
      EXPECT_LE(file->needed.size(), bad.size());
    }
    std::filesystem::remove(path);
  }
}

TEST(SplitPath, DropsEmptyEntries) {
  EXPECT_EQ(split_path("/a:/b::/c:"), (std::vector<std::string>{"/a", "/b", "/c"}));
  EXPECT_TRUE(split_path("").empty());
}

class Search : public testing::Test {
 protected:
  Search() {
    for (const char* name : {"run", "r", "env"}) {
      std::filesystem::create_directories(root_ + "/" + name);
      std::ofstream(root_ + "/" + name + "/libwanted.so.1") << name;
    }
  }
  ~Search() override { std::filesystem::remove_all(root_); }

  std::string root_ = testing::TempDir() + "search" + std::to_string(getpid());
};

TEST_F(Search, FollowsTheOrderOfTheLoader) {
  const LibrarySearch search(root_ + "/env", "/no/cache");
  ElfFile user;
  EXPECT_EQ(search.find("libwanted.so.1", user, root_ + "/app", {}), root_ + "/env/libwanted.so.1");
  user.rpath = {"$ORIGIN/r"};
  EXPECT_EQ(search.find("libwanted.so.1", user, root_ + "/app", {}), root_ + "/r/libwanted.so.1");
  user.run_path = {"${ORIGIN}/run"};  // switches the rpath off, and comes after LD_LIBRARY_PATH
  EXPECT_EQ(search.find("libwanted.so.1", user, root_ + "/app", {}), root_ + "/env/libwanted.so.1");
  const LibrarySearch plain("", "/no/cache");
  EXPECT_EQ(plain.find("libwanted.so.1", user, root_ + "/app", {}), root_ + "/run/libwanted.so.1");
  EXPECT_EQ(plain.find("libwanted.so.1", ElfFile{}, root_ + "/app", {root_ + "/r"}),
            root_ + "/r/libwanted.so.1");
  EXPECT_EQ(plain.find("libwanted.so.1", ElfFile{}, root_ + "/app", {}), "");
}

TEST_F(Search, UsesTheSystemsCacheAndFolders) {
  EXPECT_NE(LibrarySearch("").find("libc.so.6", ElfFile{}, "/app", {}), "");
  EXPECT_NE(LibrarySearch("", "/no/cache").find("libc.so.6", ElfFile{}, "/app", {}), "");
}

}  // namespace
}  // namespace refrain::cli
