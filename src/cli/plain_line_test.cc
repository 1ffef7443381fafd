#include "cli/plain_line.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace refrain::cli {
namespace {

struct Line {
  RecordOptions options;
  Given given;
  Words rest;
  bool is_plain = false;
};

Line read(const Words& words) {
  Line line;
  line.is_plain = read_plain_line(words, line.options, line.given, line.rest);
  return line;
}

class PlainLine : public testing::Test {
 protected:
  ~PlainLine() override {
    for (const char* name : {"REFRAIN_OUTPUT", "REFRAIN_QUIET", "REFRAIN_CALLPATH"}) unsetenv(name);
  }
};

TEST_F(PlainLine, EndsAtTheProgram) {
  const Line line = read({"-o", "a.rfn", "--timing=exact", "--quiet", "./app", "-o", "x"});
  ASSERT_TRUE(line.is_plain);
  EXPECT_EQ(line.options.output, "a.rfn");
  EXPECT_EQ(line.options.timing, "exact");
  EXPECT_TRUE(line.options.quiet);
  EXPECT_TRUE(line.given.output);
  EXPECT_FALSE(line.given.memory);
  EXPECT_EQ(line.rest, (Words{"./app", "-o", "x"}));
  EXPECT_EQ(read({"--", "./app"}).rest, (Words{"--", "./app"}));
}

TEST_F(PlainLine, HasWhatTheEnvironmentSays) {
  setenv("REFRAIN_OUTPUT", "b.rfn", 1);
  setenv("REFRAIN_QUIET", "1", 1);
  const Line line = read({"./app"});
  ASSERT_TRUE(line.is_plain);
  EXPECT_EQ(line.options.output, "b.rfn");
  EXPECT_TRUE(line.options.quiet);
  EXPECT_EQ(read({"-o", "a.rfn", "./app"}).options.output, "a.rfn");
  setenv("REFRAIN_QUIET", "maybe", 1);
  EXPECT_FALSE(read({"./app"}).is_plain);
}

TEST_F(PlainLine, LeavesAllElseToOthers) {
  for (const Words& words :
       {Words{}, Words{"--"}, Words{"--help"}, Words{"-o"}, Words{"-oa.rfn", "./app"},
        Words{"--output", "--quiet", "./app"}, Words{"--quiet=1", "./app"},
        Words{"--tming", "exact", "./app"}, Words{"-o", "a", "-o", "b", "./app"},
        Words{"--callpath", "4", "./app"}, Words{"--", "-x"}, Words{"-o", "", "./app"}})
    EXPECT_FALSE(read(words).is_plain);
  setenv("REFRAIN_CALLPATH", "4", 1);
  EXPECT_FALSE(read({"./app"}).is_plain);
}

}  // namespace
}  // namespace refrain::cli
