// A run-length context-free grammar that stands for exactly one sequence of terminals.
//
// Built call by call by Builder (Sequitur with repetition counts: Pilgrim, section 2.2), kept as
// the flat immutable Grammar below. Knows neither MPI nor files.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace refrain::grammar {

using Terminal = uint32_t;

// `count` times the terminal or the rule `id`.
struct Symbol {
  uint32_t id = 0;
  bool is_rule = false;
  uint64_t count = 1;
  bool operator==(const Symbol&) const = default;
};

// Rule 0 is the start. A rule only refers to rules with a higher number, so there are no cycles and
// a single backwards sweep folds everything. Builder numbers them in the reverse postorder of a
// depth-first walk from the start that takes symbols from right to left: where nothing forces
// another order that is the order of first use, and equal structure gives an equal Grammar.
//
// *Valid* means: every rule but the start is used, has symbols, and is only used by lower ones;
// counts are at least 1; the sequence has less than 2^64 terminals. Builder and read() give nothing
// else, and all functions of this folder expect it.
struct Grammar {
  std::vector<Symbol> symbols;  // right-hand sides, one after the other
  std::vector<uint32_t> rule_end{
      0};  // rule r is symbols[rule_end[r-1] (0 for r = 0) .. rule_end[r])

  size_t rule_count() const { return rule_end.size(); }
  uint32_t rule_begin(size_t r) const { return r == 0 ? 0 : rule_end[r - 1]; }
  bool operator==(const Grammar&) const = default;
};

// What read() accepts; whatever exceeds it is an error.
struct Limits {
  uint64_t terminal_count = 0;       // every terminal is smaller
  uint64_t max_length = UINT64_MAX;  // terminals in the sequence
};

// Whether the grammar is valid and within the limits. Takes O(symbols).
base::Status validate(const Grammar& grammar, const Limits& limits);

// The serialised form, normative in docs/format.md. Varints throughout:
//
//   grammar := rules, rule{rules}      rules: their number, at least 1
//   rule    := items, item{items}      items: their number; 0 for an empty start only
//   item    := varint x, by x & 3:
//     0 terminal   once; x >> 2 = zigzag(terminal - previous)
//     1 rule       once; x >> 2 = zigzag(rule - unseen)
//     2 ascent     (x >> 2) + 1 terminals, once each: previous + 1, previous + 2, ...
//     3 repeated   x >> 2 = 2 * zigzag(as above) + (0 terminal, 1 rule); a varint, count - 2,
//     follows
//
// `previous` is the terminal written last, also in the rule before (-1 at first); `unseen` is one
// more than the highest rule written so far (1 at first). The terminals in ascents are in all no
// more than the largest terminal plus one, so that few bytes cannot stand for much memory.
//
// `grammar` is valid. With `numbers`, lengths of ascents and counts from kLargeRepeat on stand
// there as wide numbers (base/wide.h), and the largest varint in their place: what depends on the
// number of ranks takes as many bytes at any number.
inline constexpr uint64_t kLargeRepeat = 8;
void write(const Grammar& grammar, base::ByteWriter& out, base::ByteWriter* numbers = nullptr);

// Memory: at most 16 bytes for each byte there is and for each terminal of limits.terminal_count.
// Stops after the grammar; what follows is the caller's. On failure the place is an offset.
base::Result<Grammar> read(base::ByteReader& in, const Limits& limits,
                           base::ByteReader* numbers = nullptr);

// Equal grammars have equal hashes; the value is the same on all machines.
uint64_t hash(const Grammar& grammar);

}  // namespace refrain::grammar
