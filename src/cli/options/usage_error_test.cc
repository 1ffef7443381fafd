// Messages for command lines that make no sense.

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/command.h"

namespace refrain::cli {
namespace {

// A command like ours, whatever the options of ours are today.
class Said {
 public:
  Said() {
    Command* show = app_.add_subcommand("show", "Shows");
    show->add_option("trace", trace_, "File")->required();
    show->add_option("--top", top_, "Rows")->check(whole_number())->envname("REFRAIN_TEST_TOP");
    Option* rank = show->add_option("-r,--rank", rank_, "One")->check(rank_number());
    show->add_flag("--bytes", bytes_, "Bytes")->excludes(rank);
    show->add_option("--format", format_, "How")->check(one_of({"text", "json"}));
    Command* save = app_.add_subcommand("save", "Saves");
    save->add_option("-o,--output", trace_, "File")->required();
    Command* compare = app_.add_subcommand("compare", "Compares");
    compare->add_option("before", trace_, "File")->required();
    compare->add_option("after", format_, "File")->required();
    Command* look = app_.add_subcommand("look", "Looks");
    look->add_option("what", format_, "How")->check(one_of({"once", "always"}))->required();
    look->add_option("file", trace_, "File");
    app_.add_subcommand("secret", "Not shown")->group("");
  }

  // "" when it is good.
  std::string said(const std::vector<std::string>& words) {
    std::string asked;
    const base::Status parsed = app_.parse(words, asked);
    if (parsed.ok()) return "";
    const base::Error& wrong = parsed.error();
    EXPECT_EQ(wrong.code, base::ErrorCode::kUsage);
    EXPECT_EQ(wrong.message.find('\n'), std::string::npos);
    return wrong.message;
  }

 private:
  Command app_{"A command", "refrain", "refrain 1"};
  std::string trace_, format_;
  std::optional<int64_t> rank_;
  uint64_t top_ = 0;
  bool bytes_ = false;
};

constexpr const char* kHelp = " (see `refrain show --help`)";

TEST(UsageError, Verbs) {
  Said command;
  EXPECT_EQ(command.said({}), "no verb given (see `refrain --help`)");
  EXPECT_EQ(command.said({"--loud"}), "unknown option --loud (see `refrain --help`)");
  EXPECT_EQ(command.said({"shwo"}),
            "unknown verb 'shwo'; did you mean 'show'? (see `refrain --help`)");
  EXPECT_EQ(command.said({"frobnicate"}), "unknown verb 'frobnicate' (see `refrain --help`)");
  // What help does not show is not proposed.
  EXPECT_EQ(command.said({"secrte"}), "unknown verb 'secrte' (see `refrain --help`)");
}

TEST(UsageError, Options) {
  Said command;
  EXPECT_EQ(command.said({"show", "a.rfn", "--tpo", "3"}),
            std::string("unknown option --tpo; did you mean '--top'?") + kHelp);
  EXPECT_EQ(command.said({"show", "--tpo=3", "a.rfn"}),
            std::string("unknown option --tpo; did you mean '--top'?") + kHelp);
  EXPECT_EQ(command.said({"show", "--loud"}), std::string("unknown option --loud") + kHelp);
  EXPECT_EQ(command.said({"show", "-x", "a.rfn"}), std::string("unknown option -x") + kHelp);
  EXPECT_EQ(command.said({"show"}), std::string("no trace given") + kHelp);
  EXPECT_EQ(command.said({"show", "a.rfn", "b.rfn"}),
            std::string("did not expect 'b.rfn'") + kHelp);
  EXPECT_EQ(command.said({"save"}), "--output is required (see `refrain save --help`)");
}

// Which argument it is, and what a command line looks like.
TEST(UsageError, MissingArguments) {
  Said command;
  EXPECT_EQ(command.said({"compare"}),
            "the first argument (before) is missing: refrain compare before after (see `refrain "
            "compare --help`)");
  EXPECT_EQ(command.said({"compare", "a.rfn"}),
            "the second argument (after) is missing: refrain compare before after (see `refrain "
            "compare --help`)");
  EXPECT_EQ(command.said({"look"}),
            "the first argument (what) is missing: refrain look once|always (see `refrain look "
            "--help`)");
}

TEST(UsageError, Values) {
  Said command;
  EXPECT_EQ(command.said({"show", "a.rfn", "--top", "-3"}),
            std::string("--top: '-3' is not a whole number from 0 up") + kHelp);
  EXPECT_EQ(command.said({"show", "a.rfn", "--top=-3"}),
            std::string("--top: '-3' is not a whole number from 0 up") + kHelp);
  EXPECT_EQ(command.said({"show", "a.rfn", "--top"}), std::string("--top needs a value") + kHelp);
  EXPECT_EQ(command.said({"save", "--output", "--", "a.rfn"}),
            "--output: needs a value (see `refrain save --help`)");
  EXPECT_EQ(command.said({"save", "--output", ""}),
            "--output: needs a value, and '' is none (see `refrain save --help`)");
  EXPECT_EQ(command.said({"save", "--output="}),
            "--output needs a value (see `refrain save --help`)");
  EXPECT_EQ(command.said({"show", "a.rfn", "--top", "3", "--top=4"}),
            std::string("--top was given more than once") + kHelp);
  EXPECT_EQ(command.said({"show", "a.rfn", "--bytes=maybe"}),
            std::string("--bytes takes no value, and was given 'maybe'") + kHelp);
  EXPECT_EQ(command.said({"show", "a.rfn", "--format", "jsno"}),
            std::string("--format: 'jsno' is none of text, json; did you mean 'json'?") + kHelp);
  EXPECT_EQ(command.said({"show", "a.rfn", "--rank", "one"}),
            std::string("--rank: 'one' is not the number of a rank, such as 0") + kHelp);
}

TEST(UsageError, OptionsThatDoNotGoTogether) {
  Said command;
  EXPECT_EQ(command.said({"show", "a.rfn", "--bytes", "--rank", "1"}),
            std::string("--rank and --bytes do not go together: leave one of them out") + kHelp);
  EXPECT_EQ(command.said({"show", "a.rfn", "--bytes"}), "");
}

TEST(UsageError, VariablesOfTheEnvironment) {
  setenv("REFRAIN_TEST_TOP", "many", 1);
  Said command;
  EXPECT_EQ(command.said({"show", "a.rfn"}),
            std::string("REFRAIN_TEST_TOP: 'many' is not a whole number from 0 up") + kHelp);
  EXPECT_EQ(command.said({"show", "a.rfn", "--top", "few"}),
            std::string("--top: 'few' is not a whole number from 0 up") + kHelp);
  EXPECT_EQ(command.said({"show", "a.rfn", "--top", "3"}), "");
  unsetenv("REFRAIN_TEST_TOP");
}

}  // namespace
}  // namespace refrain::cli
