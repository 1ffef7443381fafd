// Writes the script by which bash completes a command: its verbs, their options, and the values of
// these.
#pragma once

#include <string>

#include "cli/help/command_tree.h"

namespace refrain::cli {

// A file for bash to source; it needs bash 4.2 and no other package.
std::string bash_completion(const CommandDoc& command);

}  // namespace refrain::cli
