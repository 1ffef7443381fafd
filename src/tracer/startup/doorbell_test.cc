#include "tracer/startup/doorbell.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace refrain::tracer {
namespace {

constexpr int kLongMs = 60'000;

struct Folder {
  Folder() { std::filesystem::create_directory(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("doorbell_test_" + std::to_string(getpid()));
};

TEST(Doorbell, IsHeardByEachWhoWatches) {
  const Folder folder;
  Doorbell one(folder.path), other(folder.path);
  ring(folder.path);
  EXPECT_TRUE(one.rings_within(kLongMs));
  EXPECT_TRUE(other.rings_within(kLongMs));
}

TEST(Doorbell, WakesWhoSleeps) {
  const Folder folder;
  Doorbell bell(folder.path);
  std::thread program([&] { ring(folder.path); });
  EXPECT_TRUE(bell.rings_within(kLongMs));
  program.join();
}

TEST(Doorbell, RingsOnceForAllRingsBefore) {
  const Folder folder;
  Doorbell bell(folder.path);
  for (int i = 0; i < 1000; ++i) ring(folder.path);
  EXPECT_TRUE(bell.rings_within(kLongMs));
  EXPECT_FALSE(bell.rings_within(0));
}

TEST(Doorbell, IsNotRungByFilesThatComeAndGo) {
  const Folder folder;
  Doorbell bell(folder.path);
  std::ofstream(folder.path / "job") << "a job";
  EXPECT_FALSE(bell.rings_within(0));
}

TEST(Doorbell, IsSilentWhereThereIsNoFolder) {
  Doorbell bell("/nowhere/at/all");
  ring("/nowhere/at/all");
  EXPECT_FALSE(bell.rings_within(1));
}

}  // namespace
}  // namespace refrain::tracer
