// --names and --color: how the verbs that print tables and call paths show them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "cli/options/command.h"

namespace refrain::cli {

struct DisplayOptions {
  std::string names = "folded";
  std::string colour = "auto";
};

// Adds the options; `names`: also --names, for verbs that print names of functions.
void add_display(Command& verb, DisplayOptions& options, bool names = true);

// --verbosity, of documents; a word of report::kVerbosities. `when`: in front of the help.
Option* add_verbosity(Command& verb, std::string& word, const std::string& when = "");

// Columns of the terminal that `fd` is; 80 where it does not say, 0 where it is none.
size_t terminal_columns(int fd);

// What a text is made for, by the options, the terminal and the environment: COLUMNS decides how
// wide it is, then the terminal; where there is no terminal nothing is cut. NO_COLOR and TERM=dumb
// take colours away, unless they were asked for. `to_file`: the text does not go to stdout.
void use_display(const DisplayOptions& options, bool to_file = false);
// For HTML: names only.
void use_markup(const DisplayOptions& options);

}  // namespace refrain::cli
