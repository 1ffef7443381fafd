// Computes totals on a grammar: each rule is evaluated once and multiplied; nothing is expanded.
// All of it costs O(symbols), whatever the length of the sequence. Grammars are valid (grammar.h).
#pragma once

#include <cstdint>
#include <vector>

#include "grammar/grammar.h"

namespace refrain::grammar {

// What a rule stands for, and where its symbols begin: enough to go to any position.
struct Lengths {
  std::vector<uint64_t> rule;    // terminals in one expansion, by rule
  std::vector<uint64_t> before;  // terminals before the symbol within its rule, by symbol
  uint32_t depth = 0;            // rules on the longest path from the start, the start included

  uint64_t total() const { return rule[0]; }
};
Lengths lengths(const Grammar& grammar);

// The length of the sequence; false when it does not fit (the grammar is then not valid). The only
// one here that may be asked about a grammar whose lengths nobody has looked at.
bool checked_length(const Grammar& grammar, uint64_t* length);

// How often one expansion of each rule occurs in the sequence, by rule; 1 for the start.
std::vector<uint64_t> rule_occurrences(const Grammar& grammar);

// How often each terminal below `terminal_count` occurs in the sequence, by terminal.
std::vector<uint64_t> occurrences(const Grammar& grammar, uint64_t terminal_count);

// Folds the sequence with a monoid that need not be commutative:
//   T leaf(Terminal)      the value of one terminal
//   T combine(T, T)       associative, `identity` is neutral; left argument first in the sequence
//   T power(T, uint64_t)  combine of n copies, n >= 1
template <class T, class Leaf, class Combine, class Power>
T fold(const Grammar& grammar, const T& identity, Leaf leaf, Combine combine, Power power) {
  std::vector<T> value(grammar.rule_count(), identity);
  for (size_t r = grammar.rule_count(); r-- > 0;) {
    for (uint32_t i = grammar.rule_begin(r); i < grammar.rule_end[r]; ++i) {
      const Symbol& s = grammar.symbols[i];
      const T once = s.is_rule ? value[s.id] : leaf(s.id);
      value[r] = combine(value[r], s.count == 1 ? once : power(once, s.count));
    }
  }
  return value[0];
}

// power for a monoid that knows nothing better: O(log n) combines.
template <class T, class Combine>
T power_by_squaring(T x, uint64_t n, Combine combine) {
  while ((n & 1) == 0) {
    x = combine(x, x);
    n >>= 1;
  }
  T result = x;
  while ((n >>= 1) != 0) {
    x = combine(x, x);
    if ((n & 1) != 0) result = combine(result, x);  // powers of one value commute
  }
  return result;
}

template <class T, class Leaf, class Combine>
T fold(const Grammar& grammar, const T& identity, Leaf leaf, Combine combine) {
  return fold(grammar, identity, leaf, combine,
              [&](const T& x, uint64_t n) { return power_by_squaring(x, n, combine); });
}

}  // namespace refrain::grammar
