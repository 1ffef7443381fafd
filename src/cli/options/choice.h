// The message for a word that an option does not accept: it lists the accepted ones and suggests
// the nearest.
#pragma once

#include <string>
#include <vector>

namespace refrain::cli {

// "'tex' is none of text, json; did you mean 'text'?"
std::string none_of(const std::string& word, const std::vector<std::string>& known);

}  // namespace refrain::cli
