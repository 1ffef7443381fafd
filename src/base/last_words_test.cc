#include "base/last_words.h"

#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <thread>

namespace refrain::base {
namespace {

constexpr std::chrono::minutes kLong{1};

struct Pipe {
  Pipe() { EXPECT_EQ(pipe(ends), 0); }
  ~Pipe() {
    for (const int end : ends) close(end);
  }
  int unread() const {
    int n = -1;
    ioctl(ends[1], FIONREAD, &n);
    return n;
  }
  void write_line() { EXPECT_EQ(write(ends[1], "line\n", 5), 5); }
  int ends[2];
};

TEST(WaitUntilRead, LastsUntilTheReaderHasAll) {
  Pipe p;
  p.write_line();
  std::thread reader([&] {
    for (char c = 0; c != '\n';) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      EXPECT_EQ(read(p.ends[0], &c, 1), 1);
    }
  });
  wait_until_read(p.ends[1], kLong);
  EXPECT_EQ(p.unread(), 0);
  reader.join();
}

TEST(WaitUntilRead, EndsWhereNobodyReads) {
  Pipe p;
  p.write_line();
  errno = ENOENT;
  wait_until_read(p.ends[1], std::chrono::milliseconds(3));
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(p.unread(), 5);
}

TEST(WaitUntilRead, KnowsPipesOnly) {
  errno = 0;
  wait_until_read(-1, kLong);
  EXPECT_EQ(errno, 0);
  FILE* const file = std::tmpfile();
  EXPECT_EQ(write(fileno(file), "line\n", 5), 5);
  EXPECT_EQ(lseek(fileno(file), 0, SEEK_SET), 0);  // where FIONREAD says 5
  wait_until_read(fileno(file), kLong * 60);
  std::fclose(file);
}

}  // namespace
}  // namespace refrain::base
