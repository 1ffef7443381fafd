// What both executables begin with: `refrain`, which records, and `refrain-verbs`, which does all
// else.
#pragma once

#include <CLI/CLI.hpp>

namespace refrain::cli {

// A standard stream that the caller closed must not become a file that is opened later, or output
// would go there. Writing to stdout fails as it should; what is executed later finds closed streams
// again.
void keep_standard_streams();

// `app` without verbs yet; they inherit from it.
void set_up(CLI::App& app);

inline constexpr const char* kAbout =
    "Records every MPI call of a parallel program, whole and small, and answers from it.";

}  // namespace refrain::cli
