// The environment in which the loader puts a library of ours in front of a program's.
#pragma once

#include <string>

namespace refrain::cli {

// Puts `library` in front of LD_PRELOAD, unless it is in there already: a recorded program may
// start itself through `record` again.
void preload(const std::string& library);

// A program that was built with -fsanitize=address refuses to run when a preloaded library comes
// before the sanitizer's, because that may take malloc away from it; ours pass all such calls on.
// ASAN_OPTIONS tells it not to look, unless the user has said there whether it does. All programs
// get it, because what a script will start is not known.
void allow_before_address_sanitizer();

}  // namespace refrain::cli
