// Paths and commands in the lines that the recorder prints for the user.
#pragma once

#include <string>

namespace refrain::tracer {

// As seen from where the program is; a program that went elsewhere gets the whole path.
std::string short_path(const std::string& path);

// A control character in a name must not end the line.
std::string printable(std::string text);

// One word of a shell's line.
std::string shell_word(const std::string& text);

// How to call refrain, as the user called it, if that is known.
std::string called_as();

}  // namespace refrain::tracer
