// The message for a word that is none of those that an option knows: it names the known ones, and
// the nearest.
#pragma once

#include <string>
#include <vector>

namespace refrain::cli {

// "'tex' is none of text, json; did you mean 'text'?"
std::string none_of(const std::string& word, const std::vector<std::string>& known);

}  // namespace refrain::cli
