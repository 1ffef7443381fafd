#include "replay/plan/loop_places.h"

#include <algorithm>

namespace refrain::replay::plan {

void loops_at(const grammar::Grammar& grammar, const grammar::Lengths& lengths, uint64_t position,
              std::vector<LoopPlace>& out) {
  out.clear();
  if (position >= lengths.total()) return;
  uint64_t base = 0, offset = position;  // of the rule, and of the call in it
  for (size_t rule = 0;;) {
    const auto begin = lengths.before.begin() + grammar.rule_begin(rule);
    const auto end = lengths.before.begin() + grammar.rule_end[rule];
    const auto found = std::upper_bound(begin, end, offset) - 1;
    const grammar::Symbol& symbol =
        grammar.symbols[static_cast<size_t>(found - lengths.before.begin())];
    const uint64_t length = symbol.is_rule ? lengths.rule[symbol.id] : 1;
    const uint64_t iteration = (offset - *found) / length;
    if (symbol.count >= kLoopFrom) out.push_back({base + *found, length, symbol.count, iteration});
    if (!symbol.is_rule) return;
    base += *found + iteration * length;
    offset = offset - *found - iteration * length;
    rule = symbol.id;
  }
}

}  // namespace refrain::replay::plan
