// Finds the known word that a misspelt one most likely stands for, for "did you mean".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace refrain::base {

// The word of `known` that `typed` begins, when it is the only one, or that is the fewest letters
// away: added, left out, replaced or swapped with their neighbour, one in three at most. Large and
// small letters are the same. Empty: none is near.
std::string nearest(std::string_view typed, const std::vector<std::string>& known);

// "; did you mean 'profile'?", or nothing when no word is near.
std::string did_you_mean(std::string_view typed, const std::vector<std::string>& known);

}  // namespace refrain::base
