// TerminalCursor: reads the sequence that a grammar stands for, from any position, without
// expanding it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "grammar/fold.h"
#include "grammar/grammar.h"

namespace refrain::grammar {

// Looks at a valid grammar, which must outlive it and stay unchanged. Its stack never holds more
// than Lengths::depth frames. One thread at a time; several cursors may share grammar and lengths.
class TerminalCursor {
 public:
  // At the first terminal. O(symbols), for the lengths.
  explicit TerminalCursor(const Grammar& grammar);
  // The same with lengths(grammar), already there. O(depth).
  TerminalCursor(const Grammar& grammar, std::shared_ptr<const Lengths> lengths);

  // Terminals from here to the end.
  uint64_t remaining() const { return total_ - position_; }
  uint64_t position() const { return position_; }
  bool at_end() const { return remaining() == 0; }

  // The terminal here, and on to the next one; !at_end(). Amortised O(1).
  Terminal next() {
    const Terminal terminal = grammar_->symbols[symbol_].id;
    ++position_;
    if (--left_ > 0) return terminal;
    // Mostly to the next terminal of the same rule.
    const uint32_t following = symbol_ + 1;
    if (following != end_ && !grammar_->symbols[following].is_rule) {
      symbol_ = following;
      left_ = grammar_->symbols[following].count;
    } else {
      step_over();
    }
    return terminal;
  }

  // To the terminal number n of the sequence (n beyond the end: to the end). One binary search in
  // each rule on the way down.
  void seek(uint64_t n);

 private:
  // A use of a rule whose body is being read: the symbol, and its repetitions left, this included.
  struct Frame {
    uint32_t symbol;
    uint32_t end;  // of the rule that the symbol stands in
    uint64_t left;
  };

  void step_over();
  void descend();

  const Grammar* grammar_;
  std::shared_ptr<const Lengths> lengths_;
  uint64_t total_ = 0;
  uint64_t position_ = 0;
  uint64_t left_ = 0;    // repetitions of symbol_ left, this one included
  uint32_t symbol_ = 0;  // a terminal, unless at the end
  uint32_t end_ = 0;     // of the rule that symbol_ stands in
  std::vector<Frame> frames_;
};

}  // namespace refrain::grammar
