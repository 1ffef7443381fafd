#include "grammar/rename.h"

#include <algorithm>

namespace refrain::grammar {

std::vector<Terminal> used_terminals(const Grammar& grammar) {
  std::vector<Terminal> used;
  for (const Symbol& s : grammar.symbols)
    if (!s.is_rule) used.push_back(s.id);
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  return used;
}

}  // namespace refrain::grammar
