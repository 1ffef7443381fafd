#include "grammar/terminal_cursor.h"

#include <algorithm>
#include <utility>

namespace refrain::grammar {

TerminalCursor::TerminalCursor(const Grammar& grammar)
    : TerminalCursor(grammar, std::make_shared<const Lengths>(lengths(grammar))) {}

TerminalCursor::TerminalCursor(const Grammar& grammar, std::shared_ptr<const Lengths> lengths)
    : grammar_(&grammar), lengths_(std::move(lengths)), total_(lengths_->total()) {
  frames_.reserve(lengths_->depth);
  seek(0);
}

// From a symbol down to its first terminal.
void TerminalCursor::descend() {
  while (grammar_->symbols[symbol_].is_rule) {
    const uint32_t rule = grammar_->symbols[symbol_].id;
    frames_.push_back(Frame{symbol_, end_, left_});
    symbol_ = grammar_->rule_begin(rule);
    end_ = grammar_->rule_end[rule];
    left_ = grammar_->symbols[symbol_].count;
  }
}

// To what follows all repetitions of symbol_.
void TerminalCursor::step_over() {
  while (++symbol_ == end_) {
    if (frames_.empty()) return;
    const Frame frame = frames_.back();
    frames_.pop_back();
    symbol_ = frame.symbol;
    end_ = frame.end;
    left_ = frame.left - 1;
    if (left_ > 0) return descend();
  }
  left_ = grammar_->symbols[symbol_].count;
  descend();
}

void TerminalCursor::seek(uint64_t n) {
  const Grammar& g = *grammar_;
  position_ = std::min(n, total_);
  frames_.clear();
  left_ = 0;
  symbol_ = end_ = g.rule_end[0];
  if (at_end()) return;
  uint64_t offset = position_;
  for (uint32_t rule = 0;;) {
    const auto begin = lengths_->before.begin() + g.rule_begin(rule);
    const auto end = lengths_->before.begin() + g.rule_end[rule];
    symbol_ =
        static_cast<uint32_t>(std::upper_bound(begin, end, offset) - lengths_->before.begin() - 1);
    end_ = g.rule_end[rule];
    offset -= lengths_->before[symbol_];
    const Symbol& s = g.symbols[symbol_];
    const uint64_t each = s.is_rule ? lengths_->rule[s.id] : 1;
    left_ = s.count - offset / each;
    if (!s.is_rule) return;
    offset %= each;
    frames_.push_back(Frame{symbol_, end_, left_});
    rule = s.id;
  }
}

}  // namespace refrain::grammar
