// What grammars have in common that differ only in how often symbols are repeated: ranks whose
// loops are of unlike length.
#pragma once

#include <string>

#include "grammar/grammar.h"

namespace refrain::grammar {

// Equal for two grammars if, and only if, they are equal but for counts.
std::string skeleton_key(const Grammar& grammar);
bool have_same_skeleton(const Grammar& a, const Grammar& b);

}  // namespace refrain::grammar
