// --from-ns and --to-ns of the verbs that answer about a window of the run.
#pragma once

#include <CLI/CLI.hpp>

#include "analysis/window.h"

namespace refrain::cli {

// `window` outlives the parsing.
void add_window(CLI::App& verb, analysis::Window& window);

}  // namespace refrain::cli
