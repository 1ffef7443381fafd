// --from-ns and --to-ns of the verbs that answer about a window of the run.
#pragma once

#include "analysis/window.h"
#include "cli/options/command.h"

namespace refrain::cli {

// `window` outlives the parsing.
void add_window(Command& verb, analysis::Window& window);

}  // namespace refrain::cli
