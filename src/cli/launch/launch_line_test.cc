#include "cli/launch/launch_line.h"

#include <gtest/gtest.h>

namespace refrain::cli {
namespace {

TEST(IsLauncher, KnowsTheCommonOnes) {
  for (const char* name : {"mpiexec", "mpirun", "/usr/bin/mpirun.openmpi", "mpiexec.hydra", "srun",
                           "aprun", "orterun", "prterun", "jsrun", "ibrun", "smpirun"})
    EXPECT_TRUE(is_launcher(name)) << name;
  for (const char* name : {"./app", "mpirun-like", "mpiexec_test", "python3", "srun/app"})
    EXPECT_FALSE(is_launcher(name)) << name;
}

std::string moved(const Words& line) {
  return shell_line(behind_launcher({"refrain", "record", "-o", "a.rfn"}, line));
}

TEST(BehindLauncher, StandsRightAtTheProgram) {
  EXPECT_EQ(moved({"mpiexec", "-n", "4", "./app", "-n", "8"}),
            "mpiexec -n 4 refrain record -o a.rfn ./app -n 8");
  EXPECT_EQ(moved({"srun", "--ntasks=4", "./app"}),
            "srun --ntasks=4 refrain record -o a.rfn ./app");
  EXPECT_EQ(moved({"mpirun", "--mca", "pml", "ob1", "--oversubscribe", "-np", "2", "--", "./app"}),
            "mpirun --mca pml ob1 --oversubscribe -np 2 -- refrain record -o a.rfn ./app");
}

TEST(BehindLauncher, IsTheWrapperOfSmpirun) {
  EXPECT_EQ(moved({"smpirun", "-np", "4", "-platform", "p.xml", "./app", "-n", "8"}),
            "smpirun -wrapper 'refrain record -o a.rfn' -np 4 -platform p.xml ./app -n 8");
}

TEST(BehindLauncher, GuessesTheValuesOfUnknownOptions) {
  EXPECT_EQ(moved({"mpirun", "--mystery", "no-such-program-7", "sh", "-c", "x"}),
            "mpirun --mystery no-such-program-7 refrain record -o a.rfn sh -c x");
  EXPECT_EQ(moved({"mpirun", "--mystery", "sh"}), "mpirun --mystery refrain record -o a.rfn sh");
}

TEST(BehindLauncher, SeveralPrograms) {
  EXPECT_EQ(moved({"mpiexec", "-n", "1", "./a", ":", "-n", "2", "./b", "x"}),
            "mpiexec -n 1 refrain record -o a.rfn ./a : -n 2 refrain record -o a.rfn ./b x");
}

TEST(BehindLauncher, WithoutAProgram) {
  EXPECT_EQ(moved({"mpiexec"}), "mpiexec");
  EXPECT_EQ(moved({"mpiexec", "-n"}), "mpiexec -n");
}

TEST(ShellLine, QuotesWhatAShellWouldTouch) {
  EXPECT_EQ(shell_line({"./app", "a b", "it's", "", "x=1"}), "./app 'a b' 'it'\\''s' '' x=1");
}

TEST(FindProgram, AsAShellDoes) {
  EXPECT_EQ(find_program("sh", "/no/such/dir:/bin"), "/bin/sh");
  EXPECT_EQ(find_program("/bin/sh", ""), "/bin/sh");
  EXPECT_EQ(find_program("no-such-program-7", "/bin:/usr/bin"), "");
  EXPECT_EQ(find_program("/etc/passwd", ""), "") << "not executable";
  EXPECT_EQ(find_program("/bin", ""), "") << "a directory";
}

}  // namespace
}  // namespace refrain::cli
