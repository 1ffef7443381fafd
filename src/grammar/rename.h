// Renumbers the terminals of a grammar and keeps its structure.
#pragma once

#include <vector>

#include "grammar/grammar.h"

namespace refrain::grammar {

// Every terminal t becomes map(t). When different terminals become equal, the result is valid and
// stands for the mapped sequence, but may no longer be the smallest.
template <class Map>
Grammar rename(Grammar grammar, Map map) {
  for (Symbol& s : grammar.symbols)
    if (!s.is_rule) s.id = map(s.id);
  return grammar;
}

// The terminals that occur, ascending, each once.
std::vector<Terminal> used_terminals(const Grammar& grammar);

}  // namespace refrain::grammar
