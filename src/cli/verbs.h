// How a verb becomes part of the command line.
//
// One verb, one file: src/cli/profile.cc defines `void add_profile(Command& app, int&
// exit_status)`, and its name stands in the list in src/cli/CMakeLists.txt (the order there is the
// order in --help). add_profile() adds the subcommand "profile" with its options to `app`; the
// subcommand's callback does the work and stores the exit status (0 good, else a base::ErrorCode).
// `app` and `exit_status` outlive the callback; keep options in a std::shared_ptr that the callback
// holds.
#pragma once

#include "cli/options/command.h"

namespace refrain::cli {

#define REFRAIN_DECLARE_VERB(verb) void add_##verb(Command& app, int& exit_status);
#define V(verb) REFRAIN_DECLARE_VERB(verb)
REFRAIN_VERBS
#undef V
#undef REFRAIN_DECLARE_VERB

}  // namespace refrain::cli
