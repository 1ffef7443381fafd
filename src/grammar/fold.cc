#include "grammar/fold.h"

#include <algorithm>

namespace refrain::grammar {

Lengths lengths(const Grammar& grammar) {
  Lengths result;
  result.rule.assign(grammar.rule_count(), 0);
  result.before.assign(grammar.symbols.size(), 0);
  std::vector<uint32_t> depth(grammar.rule_count(), 1);
  for (size_t r = grammar.rule_count(); r-- > 0;) {
    uint64_t length = 0;
    for (uint32_t i = grammar.rule_begin(r); i < grammar.rule_end[r]; ++i) {
      const Symbol& s = grammar.symbols[i];
      result.before[i] = length;
      length += (s.is_rule ? result.rule[s.id] : 1) * s.count;
      if (s.is_rule) depth[r] = std::max(depth[r], depth[s.id] + 1);
    }
    result.rule[r] = length;
  }
  result.depth = depth[0];
  return result;
}

__extension__ using Wide = unsigned __int128;

bool checked_length(const Grammar& grammar, uint64_t* length) {
  std::vector<uint64_t> rule(grammar.rule_count(), 0);
  for (size_t r = grammar.rule_count(); r-- > 0;) {
    // Of 2^32 symbols at most, so that this one does not overflow.
    Wide sum = 0;
    for (uint32_t i = grammar.rule_begin(r); i < grammar.rule_end[r]; ++i) {
      const Symbol& s = grammar.symbols[i];
      uint64_t product = s.count;
      if (s.is_rule && __builtin_mul_overflow(rule[s.id], s.count, &product)) return false;
      sum += product;
    }
    if (sum > UINT64_MAX) return false;
    rule[r] = static_cast<uint64_t>(sum);
  }
  *length = rule[0];
  return true;
}

// A rule occurs no more often than the sequence is long, so nothing overflows here.
std::vector<uint64_t> rule_occurrences(const Grammar& grammar) {
  std::vector<uint64_t> times(grammar.rule_count(), 0);
  times[0] = 1;
  for (size_t r = 0; r < grammar.rule_count(); ++r) {
    for (uint32_t i = grammar.rule_begin(r); i < grammar.rule_end[r]; ++i) {
      const Symbol& s = grammar.symbols[i];
      if (s.is_rule) times[s.id] += times[r] * s.count;
    }
  }
  return times;
}

std::vector<uint64_t> occurrences(const Grammar& grammar, uint64_t terminal_count) {
  const std::vector<uint64_t> times = rule_occurrences(grammar);
  std::vector<uint64_t> result(terminal_count, 0);
  for (size_t r = 0; r < grammar.rule_count(); ++r) {
    for (uint32_t i = grammar.rule_begin(r); i < grammar.rule_end[r]; ++i) {
      const Symbol& s = grammar.symbols[i];
      if (!s.is_rule && s.id < terminal_count) result[s.id] += times[r] * s.count;
    }
  }
  return result;
}

}  // namespace refrain::grammar
