// What is said of a word that is none of those that are known.
#pragma once

#include <string>
#include <vector>

namespace refrain::cli {

// "'tex' is none of text, json; did you mean 'text'?"
std::string none_of(const std::string& word, const std::vector<std::string>& known);

}  // namespace refrain::cli
