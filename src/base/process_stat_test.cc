#include "base/process_stat.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace refrain::base {
namespace {

TEST(ProcessStat, IsThatOfTheProcess) {
  char name[17] = "";
  prctl(PR_GET_NAME, name);
  prctl(PR_SET_NAME, "a ) Z 1 (b");
  ProcessStat own;
  ASSERT_TRUE(read_process_stat(getpid(), &own));
  prctl(PR_SET_NAME, name);
  EXPECT_EQ(own.name, "a ) Z 1 (b");
  EXPECT_EQ(own.state, 'R');
  EXPECT_EQ(own.parent, getppid());
  EXPECT_GT(own.born, 0u);
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
