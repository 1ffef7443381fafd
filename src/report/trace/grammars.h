// Numbers on the grammars of a trace. Grammars that differ only in loop counts count as one.
#pragma once

#include <cstdint>
#include <vector>

#include "grammar/skeleton.h"

namespace refrain::report {

struct GrammarCount {
  uint64_t grammars = 0, rules = 0, symbols = 0;
};

// Grammars that are alike stand in a row, as decode() gives them.
inline GrammarCount count_grammars(const std::vector<grammar::Grammar>& all) {
  GrammarCount out;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i > 0 && grammar::have_same_skeleton(all[i - 1], all[i])) continue;
    ++out.grammars;
    out.rules += all[i].rule_count();
    out.symbols += all[i].symbols.size();
  }
  return out;
}

}  // namespace refrain::report
