// The builder expects that the sequence goes on as it has before: a cursor stands where the grammar
// says that the next terminal would be, and a terminal that is the expected one moves the cursor
// and changes nothing else. All that is here is for the other case, and for the ends of symbols and
// rules. The cursor is a stack of frames, one for each rule that it is inside of.

#include "grammar/builder.h"

#include <utility>

namespace refrain::grammar {

namespace {
// Symbols of a grammar and nodes of the growing one say the same in two ways.
Kind kind_of(const Symbol& symbol) { return symbol.is_rule ? Kind::kRule : Kind::kTerminal; }
}  // namespace

// ---- the cursor ----

void Builder::clear_cursor() {
  expected_ = kNothing;
  depth_ = 0;
  leaf_ = 0;
  left_ = 0;
  guessed_ = false;
}

// Into the body of `rule`, for the symbol `node`.
void Builder::enter(uint32_t node, uint32_t rule) {
  frames_[depth_++] = Frame{node, rule, left_};
  leaf_ = rules_.node(rule).next;
  left_ = rules_.node(leaf_).count;
}

// From the symbol where the cursor is down to its first terminal. Too deep: nothing is expected,
// and the cursor stays before that symbol.
void Builder::descend() {
  // Rules that begin with rules: down to the one that begins with a terminal.
  while (rules_.node(leaf_).kind == Kind::kRule) {
    if (depth_ == kMaxDepth) {
      expected_ = kNothing;
      return;
    }
    enter(leaf_, rules_.node(leaf_).id);
  }
  expected_ = rules_.node(leaf_).id;
}

// Puts the cursor before one more repetition of the tail. A loop goes on more often than it ends,
// so that is the best guess after any symbol. hints_ remembers with which rule a terminal began a
// repetition, for start_guess().
void Builder::place_cursor() {
  clear_cursor();
  leaf_ = rules_.tail();
  if (leaf_ == Sequitur::kStart) return;
  rules_.open_tail();
  left_ = 1;
  descend();
  if (depth_ > 0 && expected_ != kNothing) hints_[expected_ % kHints] = frames_[0].rule;
}

// Puts the cursor before a rule that begins with the terminal, for a loop that runs again after
// something else. A rule that was found this way costs one symbol when it was right, and
// collect_taken() takes it apart when it was wrong. The hint may be of a rule that is gone or of
// another terminal: both are looked at. The tail stands closed meanwhile.
bool Builder::start_guess(Terminal terminal) {
  const uint32_t rule = hints_[terminal % kHints];
  if (!rules_.is_rule(rule) || rules_.pairs_with_tail(rule)) return false;
  clear_cursor();
  guessed_ = true;
  left_ = 1;
  enter(0, rule);
  descend();
  if (expected_ == terminal) return true;
  clear_cursor();
  return false;
}

// After all repetitions of leaf_: to what follows it. False when that is the end of frames_[0].
bool Builder::step_over() {
  while (true) {
    const uint32_t next = rules_.node(leaf_).next;
    if (is_symbol(rules_.node(next))) {
      leaf_ = next;
      left_ = rules_.node(next).count;
      return true;
    }
    if (--depth_ == 0) return false;
    leaf_ = frames_[depth_].node;
    left_ = frames_[depth_].left - 1;
    if (left_ > 0) return true;
  }
}

// The slower part of next_symbol().
void Builder::leave_symbol() {
  if (depth_ == 0) {  // the tail is a terminal
    rules_.grow_tail(1);
    left_ = 1;
    return;
  }
  if (step_over()) return descend();
  if (guessed_) {
    rules_.push_back(Kind::kRule, frames_[0].rule, 1);  // its node was reserved
    return place_cursor();
  }
  rules_.grow_tail(1);
  leaf_ = frames_[0].node;
  left_ = 1;
  descend();
}

// ---- when another terminal comes than the one expected ----

bool Builder::collect(uint32_t node, uint64_t count) {
  const Node& n = rules_.node(node);
  return count == 0 || taken_.push_back(Symbol{n.id, n.kind == Kind::kRule, count});
}

// taken_: the part of frames_[0] that the cursor has passed, in as few symbols as it takes.
bool Builder::collect_taken() {
  taken_.clear();
  for (uint32_t d = 0; d < depth_; ++d) {
    const bool last = d + 1 == depth_;
    const uint32_t child = last ? leaf_ : frames_[d + 1].node;
    const uint64_t left = last ? left_ : frames_[d + 1].left;
    for (uint32_t n = rules_.node(frames_[d].rule).next; n != child; n = rules_.node(n).next)
      if (!collect(n, rules_.node(n).count)) return false;
    if (!collect(child, rules_.node(child).count - left)) return false;
  }
  return true;
}

// No more memory: the builder takes no terminals from here on, and what it has taken stays exact.
bool Builder::refuse() {
  full_ = true;
  expected_ = kNothing;  // the cursor itself stays: it holds what finish() has yet to append
  return false;
}

// A terminal that was never there, behind one that stands alone: nothing can expect it, and no pair
// or rule has it. What is left of append_unexpected() then, for programs whose calls never repeat.
bool Builder::append_first_of_its_kind(Terminal terminal) {
  rules_.process();
  do {
    rules_.open_tail();
  } while (rules_.close_tail());
  rules_.push_back(Kind::kTerminal, terminal, 1);
  ++length_;
  leaf_ = rules_.tail();
  left_ = 1;
  guessed_ = false;
  expected_ = terminal;
  return true;
}

// All that can fail is asked for first (reserve, collect_taken): from append_taken() on there is
// memory for each step. Closing the tail may match a pair, and the tail is then a rule that may
// expect the terminal: hence the loop.
bool Builder::append_unexpected(Terminal terminal) {
  const bool is_first = terminal >= first_unseen_;
  if (is_first) first_unseen_ = uint64_t{terminal} + 1;
  if (is_first && depth_ == 0 && length_ > 0 && !full_) {
    if (!rules_.reserve(1)) return refuse();
    return append_first_of_its_kind(terminal);
  }
  // One node for each symbol taken, one for the terminal or a guess.
  if (full_ || !rules_.ok() || !collect_taken() || !rules_.reserve(taken_.size() + 1))
    return refuse();
  if (!append_taken(terminal)) {
    do {
      place_cursor();
    } while (expected_ != terminal && rules_.close_tail());
    if (expected_ != terminal && !start_guess(terminal)) {
      rules_.push_back(Kind::kTerminal, terminal, 1);
      ++length_;
      place_cursor();
      return true;
    }
  }
  append_expected();
  return true;
}

// Appends the symbols of taken_, from the last (they are turned around) to the first, as many as
// have to be: true when the cursor could take the rest of them and now expects `next`. They stay
// pinned until then: rules must not go away while they are about to be used.
bool Builder::append_taken(uint64_t next) {
  for (size_t i = 0; 2 * i + 1 < taken_.size(); ++i)
    std::swap(taken_[i], taken_[taken_.size() - 1 - i]);
  for (size_t i = 0; i < taken_.size(); ++i) pin(taken_[i]);
  rules_.process();
  while (!taken_.empty()) {
    const Symbol symbol = taken_[taken_.size() - 1];
    const Kind kind = kind_of(symbol);
    const Node& tail = rules_.node(rules_.tail());
    if (tail.kind == kind && tail.id == symbol.id) {
      rules_.open_tail();
      rules_.grow_tail(symbol.count);
    } else if (rules_.close_tail()) {
      if (!follow(next)) continue;
      while (!taken_.empty()) unpin(taken_.pop_back());
      return true;  // what was unpinned waits for the next process(): the cursor stands in there
    } else if (symbol.is_rule && rules_.pairs_with_tail(symbol.id) && unfold_last()) {
      continue;
    } else {
      rules_.push_back(kind, symbol.id, symbol.count);
    }
    unpin(taken_.pop_back());
  }
  rules_.process();
  return false;
}

// Replaces the last symbol of taken_ by the body of its rule (and what is left of its count).
// False, and nothing changed, without memory.
bool Builder::unfold_last() {
  Symbol& symbol = taken_[taken_.size() - 1];
  const uint32_t rule = symbol.id;
  size_t body = 0;
  for (uint32_t n = rules_.node(rule).prev; n != rule; n = rules_.node(n).prev) ++body;
  if (!taken_.reserve(taken_.size() + body) || !rules_.reserve(taken_.size() + body + 1))
    return false;
  const Symbol whole = taken_.pop_back();
  if (whole.count > 1) taken_.push_back(Symbol{rule, true, whole.count - 1});
  for (uint32_t n = rules_.node(rule).prev; n != rule; n = rules_.node(n).prev) {
    collect(n, rules_.node(n).count);
    pin(taken_[taken_.size() - 1]);
  }
  if (whole.count == 1) unpin(whole);
  return true;
}

// Whether a repetition of the tail, which is new, begins with the rest of taken_ and then `next`;
// if so the cursor is left there.
bool Builder::follow(uint64_t next) {
  size_t i = taken_.size();
  if (next == kNothing || i > kMaxFollowed) return false;
  const uint32_t tail = rules_.tail();
  if (rules_.node(tail).kind != Kind::kRule) return false;
  clear_cursor();
  rules_.open_tail();
  left_ = 1;
  enter(tail, rules_.node(tail).id);
  while (i > 0 && follow_symbol(taken_[i - 1])) --i;
  if (i == 0 && depth_ > 0) {
    descend();
    if (expected_ == next) return true;
  }
  clear_cursor();
  return false;
}

// Moves the cursor over the symbol, if that is what stands there, going down into rules until it
// does.
bool Builder::follow_symbol(const Symbol& symbol) {
  const Kind kind = kind_of(symbol);
  while (true) {
    const Node& n = rules_.node(leaf_);
    if (n.kind == kind && n.id == symbol.id) {
      if (left_ < symbol.count) return false;
      left_ -= symbol.count;
      return left_ > 0 || step_over();
    }
    if (n.kind != Kind::kRule || depth_ == kMaxDepth) return false;
    enter(leaf_, n.id);
  }
}

// ---- the result ----

// What the cursor has taken is not in the grammar yet: it is appended as symbols, as if another
// terminal had come.
Grammar Builder::finish() {
  rules_.lift_memory_limit();
  if (!rules_.ok()) return Grammar();
  // Without memory the grammar is still exact: what the cursor took is then written out behind it.
  const bool room = collect_taken() && rules_.reserve(taken_.size());
  if (room) {
    append_taken(kNothing);
    while (rules_.close_tail()) {
    }
  }
  Grammar grammar = rules_.to_grammar(taken_);
  if (room) place_cursor();
  if (full_) expected_ = kNothing;
  return grammar;
}

// By a copy, because finishing appends what the cursor holds, and the builder goes on from where it
// stood.
Grammar Builder::snapshot() const {
  Builder copy(*this);
  return copy.finish();
}

}  // namespace refrain::grammar
