// The command line as plain data, read off the Command that parses it: man pages and completion
// are made from this, so they cannot say anything else than `--help` does.
#pragma once

#include <string>
#include <vector>

#include "cli/options/command.h"

namespace refrain::cli {

struct OptionDoc {
  std::vector<std::string> names;  // "-o", "--output"; of a positional: its name alone
  std::string value;               // "TEXT", "DEPTH"; empty for a flag
  std::vector<std::string> choices;
  std::string range;  // "0 to 32"; empty: not bounded
  std::string description;
  std::string default_value;
  std::string environment;  // variable that stands for it
  bool required = false;
  bool repeats = false;
};

struct VerbDoc {
  std::string name;
  std::string description;
  std::string footer;
  std::vector<OptionDoc> options, positionals;
  bool runs_program = false;  // what follows the options is another program's command line
};

struct CommandDoc {
  std::string name, version;
  std::string description, footer;
  std::vector<OptionDoc> options;
  std::vector<VerbDoc> verbs;  // those that help shows, in its order
};

CommandDoc describe(const Command& command, const std::string& version);

}  // namespace refrain::cli
