// The command line as verbs declare it: a command, its verbs, their options, and checks of values.
//
// CLI11 parses it. Only options/command.cc, options/usage_error.cc and help/command_tree.cc include
// CLI11: its header takes a compiler longer than a verb does. What is declared here has the names
// and the meaning that it has in CLI11.
//
// Ownership: a command owns its verbs and options; references to them are valid as long as it is.
// Variables that options fill must live until parse() returns. Threads: one.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/values.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace refrain::cli {

// One option or positional. All functions but count() return `this`.
class Option {
 public:
  explicit Option(::CLI::Option& parsed) : parsed_(parsed) {}

  Option* required(bool is_required = true);
  // Refuses values; help shows the range of the check.
  Option* check(const ValueCheck& check);
  // As check(), and the check may change the text before it becomes a value.
  Option* transform(const ValueCheck& check);
  // What help shows for the value: COUNT, TIME.
  Option* type_name(const std::string& name);
  // Help shows the value that the variable has now as the default, or `text`.
  Option* capture_default_str();
  Option* default_str(const std::string& text);
  // Variable of the environment that stands for the option.
  Option* envname(const std::string& variable);
  // "": help does not show it.
  Option* group(const std::string& name);
  // false: an option that may be given several times takes one value each time.
  Option* allow_extra_args(bool allowed);
  // It is an error to give this option without, or together with, the other one.
  Option* needs(const Option* other);
  Option* needs(const std::string& other);
  Option* excludes(const Option* other);

  // How often it was given.
  size_t count() const;

 private:
  ::CLI::Option& parsed_;
};

class Command {
 public:
  // `refrain` itself, without verbs yet. `version` is what --version prints.
  Command(const std::string& about, const std::string& name, const std::string& version);
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  ~Command();

  // A verb, with --help.
  Command* add_subcommand(const std::string& name, const std::string& about);

  // `names`: "-o,--output", or of a positional its name. `T`: see the end of command.cc.
  template <class T>
  Option* add_option(const std::string& names, T& value, const std::string& help = "");
  Option* add_flag(const std::string& names, bool& value, const std::string& help);
  Option* add_flag_callback(const std::string& names, std::function<void()> action,
                            const std::string& help);
  // The positional "trace": a file.
  Option* add_trace(std::string& path);
  // --format, one of `words`, of which `value` is the default. `help`: those words, if it is empty.
  Option* add_format(std::string& value, const std::vector<std::string>& words,
                     std::string help = "");
  // What follows the options is a program with its own arguments: remaining() has them. Help shows
  // PROGRAM; it never matches, because CLI11 would take options out of the arguments, and gives
  // "--" back to the parent when no positional is open.
  void take_program(const std::string& help);

  // What parse() does when this verb was given.
  void callback(std::function<void()> action);
  // Text at the end of --help.
  void footer(const std::string& text);
  // "": help does not show this verb.
  void group(const std::string& name);

  // Runs the callback of the verb in `words` (without the program's name), or puts the text into
  // `asked` that --help or --version asks for. An error is of code kUsage and one line, which says
  // which verb's help to read.
  base::Status parse(const std::vector<std::string>& words, std::string& asked);

  // Valid while parse() runs the callback: what no option took, and how often "--name" was given.
  std::vector<std::string> remaining() const;
  size_t count(const std::string& name) const;

  // "unknown option --tpo; did you mean '--top'?", for an option of this verb.
  std::string unknown_option(const std::string& word) const;

  // For messages and manual pages, which read it.
  ::CLI::App& parser() const { return *parser_; }

 private:
  explicit Command(::CLI::App& verb);
  Option* keep(::CLI::Option* option);

  std::unique_ptr<::CLI::App> own_;  // of the outermost command alone
  ::CLI::App* parser_;
  std::vector<std::unique_ptr<Command>> verbs_;
  std::vector<std::unique_ptr<Option>> options_;
};

}  // namespace refrain::cli
