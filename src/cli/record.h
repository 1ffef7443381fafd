// What `refrain record` does once its options are read: it checks them, finds the MPI of the
// program, and becomes the program with the recorder preloaded.
#pragma once

#include <functional>
#include <string>

#include "cli/launch/launch_line.h"
#include "cli/launch/record_options.h"

namespace refrain::cli {

// What is wrong with a word that begins with a dash and is no option.
using UnknownOption = std::function<std::string(const std::string&)>;

// `words`: from "--", or the program, on. Becomes the program; returns the exit status when it
// cannot.
int record(const RecordOptions& options, const Words& words, const UnknownOption& unknown_option);

}  // namespace refrain::cli
