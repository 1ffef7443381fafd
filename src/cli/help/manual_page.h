// Writes the man pages (man(7) macros) of a command and its verbs.
#pragma once

#include <map>
#include <string>

#include "cli/help/command_tree.h"

namespace refrain::cli {

// File name ("refrain-info.1") -> page: one of the command itself and one of each verb.
std::map<std::string, std::string> manual_pages(const CommandDoc& command);

// `text` so that roff shows it as it is: no dash becomes a hyphen, no line a request.
std::string roff(const std::string& text);

}  // namespace refrain::cli
