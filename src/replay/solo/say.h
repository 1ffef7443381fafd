// Lines for the user, where they are seen: programs redirect or close their own stderr.
#pragma once

#include <string>

namespace refrain::replay::solo {

// Keeps the stderr of now. Once, before the program goes on.
void keep_stderr();
// Prints "refrain: LINE" there. Any thread.
void say(const std::string& line);

}  // namespace refrain::replay::solo
