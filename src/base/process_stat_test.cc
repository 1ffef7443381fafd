#include "base/process_stat.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace refrain::base {
namespace {

// The process is a child: an emulator answers with a name of its own when a process asks for
// itself.
TEST(ProcessStat, IsThatOfTheProcess) {
  int named[2];
  int done[2];
  ASSERT_EQ(pipe(named), 0);
  ASSERT_EQ(pipe(done), 0);
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_NAME, "a ) Z 1 (b");
    char byte = 0;
    close(done[1]);
    if (write(named[1], &byte, 1) == 1) (void)!read(done[0], &byte, 1);
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(named[0], &byte, 1), 1);
  ProcessStat stat;
  ASSERT_TRUE(read_process_stat(child, &stat));
  for (const int end : {named[0], named[1], done[0], done[1]}) close(end);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_EQ(stat.name, "a ) Z 1 (b");
  EXPECT_TRUE(stat.state == 'R' || stat.state == 'S') << stat.state;
  EXPECT_EQ(stat.parent, getpid());
  EXPECT_GT(stat.born, 0u);
}

TEST(ProcessStat, OfAProcessThatEnded) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  ProcessStat stat;
  ASSERT_TRUE(read_process_stat(child, &stat));
  EXPECT_EQ(stat.state, 'Z');
  EXPECT_EQ(stat.parent, getpid());
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(read_process_stat(child, &stat));
}

}  // namespace
}  // namespace refrain::base
