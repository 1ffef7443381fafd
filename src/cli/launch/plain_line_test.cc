#include "cli/launch/plain_line.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace refrain::cli {
namespace {

struct Line {
  RecordOptions options;
  Words rest;
  bool is_plain = false;
};

Line read(const Words& words) {
  Line line;
  line.is_plain = read_plain_line(words, line.options, line.rest);
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
  EXPECT_EQ(line.options[RecordOption::kOutput], "a.rfn");
  EXPECT_EQ(line.options[RecordOption::kTiming], "exact");
  EXPECT_TRUE(line.options.is_on(RecordOption::kQuiet));
  EXPECT_TRUE(line.options.is_given(RecordOption::kOutput));
  EXPECT_FALSE(line.options.is_given(RecordOption::kMemory));
  EXPECT_EQ(line.rest, (Words{"./app", "-o", "x"}));
  EXPECT_EQ(read({"--", "./app"}).rest, (Words{"--", "./app"}));
}

TEST_F(PlainLine, HasWhatTheEnvironmentSays) {
  setenv("REFRAIN_OUTPUT", "b.rfn", 1);
  setenv("REFRAIN_QUIET", "1", 1);
  const Line line = read({"./app"});
  ASSERT_TRUE(line.is_plain);
  EXPECT_EQ(line.options[RecordOption::kOutput], "b.rfn");
  EXPECT_TRUE(line.options.is_on(RecordOption::kQuiet));
  EXPECT_EQ(read({"-o", "a.rfn", "./app"}).options[RecordOption::kOutput], "a.rfn");
  setenv("REFRAIN_QUIET", "maybe", 1);
  EXPECT_FALSE(read({"./app"}).is_plain);
}

TEST_F(PlainLine, LeavesAllElseToOthers) {
  for (const Words& words :
       {Words{}, Words{"--"}, Words{"--help"}, Words{"-o"}, Words{"-oa.rfn", "./app"},
        Words{"--output", "--quiet", "./app"}, Words{"--quiet=1", "./app"},
        Words{"--tming", "exact", "./app"}, Words{"-o", "a", "-o", "b", "./app"}, Words{"--", "-x"},
        Words{"-o", "", "./app"}})
    EXPECT_FALSE(read(words).is_plain);
}

TEST_F(PlainLine, TakesWholeNumbersInTheirRange) {
  for (const char* number : {"0", "4", "32"}) {
    const Line line = read({"--callpath", number, "./app"});
    ASSERT_TRUE(line.is_plain) << number;
    EXPECT_EQ(line.options[RecordOption::kCallPath], number);
    setenv("REFRAIN_CALLPATH", number, 1);
    EXPECT_EQ(read({"./app"}).options[RecordOption::kCallPath], number);
    unsetenv("REFRAIN_CALLPATH");
  }
  for (const char* number : {"33", "-1", "+4", "04", "4.0", "4s", "", "x", "9999999"}) {
    EXPECT_FALSE(read({"--callpath", number, "./app"}).is_plain) << number;
    EXPECT_FALSE(read({std::string("--callpath=") + number, "./app"}).is_plain) << number;
    setenv("REFRAIN_CALLPATH", number, 1);
    EXPECT_EQ(read({"./app"}).is_plain, *number == '\0') << number;
    unsetenv("REFRAIN_CALLPATH");
  }
  EXPECT_TRUE(read({"--clock-interval", "60", "--node-size=16", "./app"}).is_plain);
  EXPECT_FALSE(read({"--clock-interval", "1m", "./app"}).is_plain);
}

TEST_F(PlainLine, TakesEveryOptionOfTheTable) {
  for (const options::OptionRow& row : options::kRecordRows) {
    const std::string names = row.words;
    const std::string name = names.substr(names.find("--"));
    const bool is_flag = row.kind == options::OptionKind::kFlag;
    const std::string value = row.kind == options::OptionKind::kText ? "x" : "1";
    const Words words = is_flag ? Words{name, "./app"} : Words{name, value, "./app"};
    const Line line = read(words);
    ASSERT_TRUE(line.is_plain) << name;
    EXPECT_EQ(line.options[row.option], value) << name;
    setenv(row.variable, value.c_str(), 1);
    const Line said = read({"./app"});
    unsetenv(row.variable);
    ASSERT_TRUE(said.is_plain) << row.variable;
    EXPECT_EQ(said.options[row.option], value) << row.variable;
  }
}

}  // namespace
}  // namespace refrain::cli
