// A fast parser for command lines of `refrain record` that are valid and do not ask for help. Every
// rank parses one, and CLI11 would take longer than the rest of `record`.
#pragma once

#include "cli/record.h"

namespace refrain::cli {

// `words`: those behind `record`. `options` gets what they and the environment say; `rest` begins
// with "--" or the program. False: it is for CLI11 to say.
bool read_plain_line(const Words& words, RecordOptions& options, Words& rest);

}  // namespace refrain::cli
