// Man pages and completion say what the command line does.

#include <gtest/gtest.h>

#include "cli/help/command_tree.h"
#include "cli/help/completion.h"
#include "cli/help/manual_page.h"
#include "cli/options/values.h"

namespace refrain::cli {
namespace {

class Manual : public testing::Test {
 protected:
  Manual() : app("Does something.", "tool", "tool 1.2") {
    Command* run = app.add_subcommand("run", "Runs a program");
    run->take_program("The program");
    run->add_option("-d,--depth", depth, "How\ndeep")
        ->check(whole_number(0, 32))
        ->envname("TOOL_DEPTH")
        ->capture_default_str();
    run->footer("Examples:\n  tool run ./a -x\n.hidden\\n");
    Command* show = app.add_subcommand("show", "Shows");
    show->add_option("trace", text, "A file")->required();
    show->add_option("--format", format, "How")->check(one_of({"text", "json"}));
    show->add_option("--also", many, "More");
    show->add_flag("--quiet", quiet, "Say nothing");
    app.add_subcommand("secret", "Not for all")->group("");
  }

  const VerbDoc& verb(const CommandDoc& command, size_t i) { return command.verbs.at(i); }

  Command app;
  int depth = 8;
  bool quiet = false;
  std::string text, format;
  std::vector<std::string> many;
};

TEST_F(Manual, TreeHasWhatHelpHas) {
  const CommandDoc command = describe(app, "1.2");
  ASSERT_EQ(command.verbs.size(), 2u);  // not the hidden one
  const VerbDoc &run = verb(command, 0), &show = verb(command, 1);
  EXPECT_TRUE(run.runs_program);
  EXPECT_FALSE(show.runs_program);
  ASSERT_EQ(run.options.size(), 2u);  // and --help
  const OptionDoc& deep = run.options[1];
  EXPECT_EQ(deep.names, (std::vector<std::string>{"-d", "--depth"}));
  EXPECT_EQ(deep.description, "How deep");
  EXPECT_EQ(deep.range, "0 to 32");
  EXPECT_EQ(deep.default_value, "8");
  EXPECT_EQ(deep.environment, "TOOL_DEPTH");
  ASSERT_EQ(show.positionals.size(), 1u);
  EXPECT_TRUE(show.positionals[0].required);
  ASSERT_EQ(show.options.size(), 4u);
  EXPECT_EQ(show.options[1].choices, (std::vector<std::string>{"text", "json"}));
  EXPECT_TRUE(show.options[2].repeats);
  EXPECT_EQ(show.options[3].value, "");
}

TEST_F(Manual, Pages) {
  const auto pages = manual_pages(describe(app, "1.2"));
  ASSERT_EQ(pages.size(), 3u);
  const std::string& run = pages.at("tool-run.1");
  EXPECT_NE(run.find(".SH NAME\ntool\\-run \\- Runs a program\n"), std::string::npos);
  EXPECT_NE(
      run.find("\\fB\\-d\\fR, \\fB\\-\\-depth\\fR \\fIINT\\fR\nHow deep. From 0 to 32. Default: "
               "8.\nEnvironment: \\fBTOOL_DEPTH\\fR."),
      std::string::npos)
      << run;
  EXPECT_NE(run.find("\n\\&.hidden\\en\n"), std::string::npos);
  EXPECT_NE(pages.at("tool-show.1").find("\\fBtext\\fR|\\fBjson\\fR"), std::string::npos);
  EXPECT_EQ(pages.at("tool.1").find("secret"), std::string::npos);
}

TEST(Roff, KeepsTextAsItIs) {
  EXPECT_EQ(roff(".a\n'b.c"), "\\&.a\n\\&\\(aqb.c");
  EXPECT_EQ(roff("--x \\ `y`"), "\\-\\-x \\e \\(gay\\(ga");
}

TEST_F(Manual, CompletionKnowsVerbsAndValues) {
  const std::string bash = bash_completion(describe(app, "1.2"));
  EXPECT_NE(bash.find("_tool_verbs=\"run show help -h --help --version\""), std::string::npos)
      << bash;
  EXPECT_NE(bash.find("--format) choices=\"text json\""), std::string::npos);
  EXPECT_NE(bash.find("${#COMPREPLY[@]}"), std::string::npos);
  EXPECT_EQ(bash.find("secret"), std::string::npos);
}

}  // namespace
}  // namespace refrain::cli
