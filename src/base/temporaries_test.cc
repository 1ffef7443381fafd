// Processes that a signal ends leave nothing behind that is guarded, and the rest alone.
#include "base/temporaries.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>

namespace refrain::base {
namespace {

namespace fs = std::filesystem;

class Temporaries : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("temporaries-" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directory(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string make_file(const std::string& name) {
    const std::string path = folder_ / name;
    std::ofstream(path) << "x";
    return path;
  }
  // The signal that ended it; 0: it ended by itself.
  static int ended_by(const std::function<void()>& work) {
    const pid_t child = fork();
    if (child == 0) {
      work();
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }
  size_t left() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }
  fs::path folder_;
};

TEST_F(Temporaries, GoWithTheProcess) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGPIPE}) {
    const std::string deep = folder_ / "a" / "b" / "c";
    fs::create_directories(deep);
    for (int i = 0; i < 500; ++i) make_file("a/b/file-with-a-long-name-" + std::to_string(i));
    fs::create_directory_symlink("/", deep + "/root");
    make_file("mine"), make_file("named"), make_file("other");
    EXPECT_EQ(ended_by([&] {
                remove_temporaries_on_signals();
                const Temporary folder(folder_ / "a"), absent(folder_ / "absent");
                auto named = std::make_unique<Temporary>(folder_ / "named");
                const Temporary mine(folder_ / "mine");
                named.reset();
                raise(number);
              }),
              number);
    EXPECT_EQ(left(), 2u) << number;
    EXPECT_TRUE(fs::exists(folder_ / "named") && fs::exists(folder_ / "other"));
  }
}

TEST_F(Temporaries, StayWhereNobodyAsked) {
  make_file("a");
  EXPECT_EQ(ended_by([&] {
              const Temporary a(folder_ / "a");
              raise(SIGTERM);
            }),
            SIGTERM);
  EXPECT_EQ(left(), 1u);
}

TEST_F(Temporaries, SignalsThatAreIgnoredStaySo) {
  make_file("a");
  EXPECT_EQ(ended_by([&] {
              std::signal(SIGHUP, SIG_IGN);
              remove_temporaries_on_signals();
              const Temporary a(folder_ / "a");
              raise(SIGHUP);
            }),
            0);
  EXPECT_EQ(left(), 1u);
}

TEST_F(Temporaries, HoldSignalsBack) {
  make_file("a"), make_file("b");
  EXPECT_EQ(ended_by([&] {
              remove_temporaries_on_signals();
              const HoldSignals hold;
              auto a = std::make_unique<Temporary>(folder_ / "a");
              raise(SIGTERM);
              a.reset();
            }),
            SIGTERM);
  EXPECT_EQ(ended_by([&] {
              remove_temporaries_on_signals();
              const Temporary b(folder_ / "b");
              auto hold = std::make_unique<HoldSignals>();
              raise(SIGTERM);
              hold.reset();
            }),
            SIGTERM);
  EXPECT_TRUE(fs::exists(folder_ / "a"));
  EXPECT_FALSE(fs::exists(folder_ / "b"));
}

}  // namespace
}  // namespace refrain::base
