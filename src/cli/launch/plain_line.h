// The command line of `refrain record` where nothing is wrong with it and nobody asks for help:
// every rank reads one, and all that CLI11 needs for it takes longer than the rest of `record`.
#pragma once

#include "cli/record.h"

namespace refrain::cli {

// `words`: those behind `record`. `options` gets what they and the environment say; `rest` begins
// with "--" or the program. False: it is for CLI11 to say.
bool read_plain_line(const Words& words, RecordOptions& options, Words& rest);

}  // namespace refrain::cli
