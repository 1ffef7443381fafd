// The skeleton of a grammar is the grammar without its repetition counts. Ranks that differ only in
// the lengths of their loops have the same one, and can share a group.
#pragma once

#include <string>

#include "grammar/grammar.h"

namespace refrain::grammar {

// Equal for two grammars if, and only if, they are equal but for counts.
std::string skeleton_key(const Grammar& grammar);
bool have_same_skeleton(const Grammar& a, const Grammar& b);

}  // namespace refrain::grammar
