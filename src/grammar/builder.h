// Builder: takes a sequence one terminal at a time and keeps it as a small grammar.
//
// This runs inside the recorded program, at every MPI call. Laws: no lock, no system call, no
// exception; no allocation while a loop repeats, amortised
//         growth elsewhere; no recursion; out of memory is a return value, never an abort.
// Budget: a terminal that is expected: 35 to 50 instructions in a loop of 12 or in nested ones, 6
// ns;
//         where nothing is: 700 to 1200 instructions, 60 to 110 ns (bench/grammar_bench.cc says
//         how). 32 bytes a symbol of the grammar and 11 to 22 a pair, doubling; 2.4 kB to begin
//         with.
// Picture: a cursor walks the expansion of the rule that the sequence is probably repeating, and
//         nothing is written until that guess fails:
//
//     S -> x y A^7 |          the tail is A, so A is expected again
//                  A -> b C^2 d
//                         ^   the cursor: b C taken, C expected. At the end of A: A^8, over again.
//
//         When another terminal arrives, what the cursor had taken is appended as symbols (b, C) of
//         the grammar, the pair that ends in the tail is looked up (see sequitur.h), and the new
//         tail is asked whether *it* expects the terminal. If it does not, the rule that last
//         began with the terminal is tried in the same way, as a symbol not yet appended.
#pragma once

#include <cstddef>
#include <cstdint>

#include "grammar/grammar.h"
#include "grammar/pod_vector.h"
#include "grammar/sequitur.h"

namespace refrain::grammar {

// One thread at a time. Copies are independent.
class Builder {
 public:
  // Equals no terminal.
  static constexpr uint64_t kNothing = UINT64_MAX;

  // `max_memory_bytes` bounds memory_bytes(); growing doubles, so half of it may stay unused.
  explicit Builder(size_t max_memory_bytes = SIZE_MAX) : rules_(max_memory_bytes) {}

  // False when there is no memory for it: then this terminal and all later ones are refused, and
  // the grammar stays that of the length() terminals before.
  bool append(Terminal terminal) {
    if (terminal != expected_) [[unlikely]]
      return append_unexpected(terminal);
    append_expected();
    return true;
  }

  // The terminal that comes next if the program goes on as before, or kNothing. A caller that can
  // tell "it is this one" more cheaply than "which one is it" tries this first, and then calls
  // append_expected(), which never fails.
  uint64_t expected() const { return expected_; }
  void append_expected() {
    ++length_;
    if (--left_ == 0) next_symbol();
  }

  // Terminals taken so far.
  uint64_t length() const { return length_; }
  bool full() const { return full_; }
  size_t memory_bytes() const {
    return sizeof(*this) + rules_.memory_bytes() + taken_.capacity_bytes();
  }

  // Exactly the sequence so far; both laws of sequitur.h hold. Works on a copy, so it takes as much
  // memory again, and leaves the builder as it is.
  Grammar snapshot() const;
  // The same without the copy. The builder can go on, if need be with a slightly larger grammar
  // than otherwise.
  Grammar finish();

 private:
  static constexpr uint32_t kMaxDepth = 64;
  static constexpr uint32_t kHints = 256;  // a power of two
  static constexpr size_t kMaxFollowed = 64;

  // The body of `rule` is being walked, as a part of the symbol `node`, of whose repetitions `left`
  // remain, this one included. frames_[0] is the tail, or a guess that is not in S yet.
  struct Frame {
    uint32_t node = 0;
    uint32_t rule = 0;
    uint64_t left = 0;
  };

  void next_symbol() {
    const uint32_t next = rules_.node(leaf_).next;
    const Node& n = rules_.node(next);
    if (n.kind != Kind::kTerminal) return leave_symbol();
    leaf_ = next;
    left_ = n.count;
    expected_ = n.id;
  }
  void leave_symbol();
  bool step_over();
  void descend();
  void enter(uint32_t node, uint32_t rule);
  void place_cursor();
  void clear_cursor();
  bool start_guess(Terminal terminal);

  bool append_unexpected(Terminal terminal);
  bool append_first_of_its_kind(Terminal terminal);
  bool collect_taken();
  bool collect(uint32_t node, uint64_t count);
  bool append_taken(uint64_t next);
  bool unfold_last();
  bool follow(uint64_t next);
  bool follow_symbol(const Symbol& symbol);
  bool refuse();
  void pin(const Symbol& symbol) {
    if (symbol.is_rule) rules_.pin(symbol.id);
  }
  void unpin(const Symbol& symbol) {
    if (symbol.is_rule) rules_.unpin(symbol.id);
  }

  uint64_t expected_ = kNothing;
  uint64_t first_unseen_ = 0;  // above all terminals so far
  uint64_t length_ = 0;
  uint64_t left_ = 0;   // repetitions of leaf_ still expected, this one included
  uint32_t leaf_ = 0;   // the symbol that the cursor is at; a terminal unless kMaxDepth was reached
  uint32_t depth_ = 0;  // frames in use; 0: the cursor is at the tail itself, or nowhere
  bool guessed_ = false;
  bool full_ = false;
  Sequitur rules_;
  PodVector<Symbol> taken_;  // what the cursor took, while it is being appended; ids are guards
  Frame frames_[kMaxDepth];
  uint32_t hints_[kHints] = {};  // by first terminal: the rule last seen to begin with it
};

}  // namespace refrain::grammar
