// Sequitur: the rules of a growing grammar as linked lists, and the two laws that keep it small.
//
// After Nevill-Manning and Witten's Sequitur with repetition counts (Pilgrim, section 2.2):
//   digram uniqueness  a pair of neighbours, counts included, stands in one place only;
//   rule utility       every rule is used at least twice (a use with a count counts as two).
// Here neighbours with equal ids are always joined into one symbol with a count, so pairs never
// overlap; and every rule knows its uses, so a rule that lost its use is found at once and a rule
// whose body shrank to one symbol is dissolved into its uses.
//
// Picture: a rule *is* its guard node; bodies are rings through the guard.
//
//     guard A <-> b^1 <-> C^3 <-> (guard A)          S = node 0, A's uses: a list through the
//     symbols
//       | next_use
//       +--> A^2 in S <-> A^1 in D
//
// The last symbol of S is *open*: it may still get a higher count, so the pair that ends in it is
// looked up only when the caller says that it is closed (close_tail). That keeps a loop that is
// still running from being matched with a shorter loop that ended.
//
// Laws: nodes are named by 32-bit indices and recycled; no recursion (follow-up work waits in two
//       queues); without memory, pairs stay unmatched and the grammar stays exact but bigger.
// Not thread safe. Builder is the interface for everybody else.
#pragma once

#include <cstddef>
#include <cstdint>

#include "grammar/digram_table.h"
#include "grammar/grammar.h"
#include "grammar/pod_vector.h"

namespace refrain::grammar {

enum class Kind : uint8_t { kTerminal, kRule, kGuard, kDead, kFree };

struct Node {
  uint32_t next = 0;
  uint32_t prev = 0;
  uint32_t next_use =
      0;  // of a rule symbol: the rule's next use; of a guard: its first use; 0: none
  uint32_t prev_use = 0;  // of a rule symbol: 0 for the first use; of a guard: the number of uses
  uint32_t id = 0;        // terminal, or the guard of the rule
  Kind kind = Kind::kFree;
  bool indexed = false;  // the pair (this, next) is in the digram table under this node
  bool queued = false;   // stands in a queue: must not be recycled yet
  uint64_t count = 0;    // repetitions; of a guard: pins, which keep the rule as it is
};
static_assert(sizeof(Node) == 32);

inline bool is_symbol(const Node& n) { return n.kind <= Kind::kRule; }

class Sequitur {
 public:
  static constexpr uint32_t kStart = 0;

  explicit Sequitur(size_t max_memory_bytes);

  // False when not even the start rule found memory.
  bool ok() const { return !nodes_.empty(); }
  const Node& node(uint32_t i) const { return nodes_[i]; }
  // The last symbol of S, or kStart when S is empty.
  uint32_t tail() const { return nodes_[kStart].prev; }
  bool is_rule(uint32_t i) const {
    return i != kStart && i < nodes_.size() && nodes_[i].kind == Kind::kGuard;
  }

  // Sets `n` nodes apart for push_back, whatever else happens in between.
  bool reserve(size_t n);
  // Appends a symbol to S as the new open tail; the old one was closed. Uses one reserved node.
  void push_back(Kind kind, uint32_t id, uint64_t count);
  // Raises the count of the open tail.
  void grow_tail(uint64_t count) { nodes_[tail()].count += count; }
  // Makes the tail ready for grow_tail.
  void open_tail() { unindex(nodes_[tail()].prev); }
  // Looks up the pair that ends in the tail. True when it matched, that is, when there is a new
  // tail (open again); false when it stands for good.
  bool close_tail();

  // Whether the grammar has a pair of the tail and a symbol that an expansion of `rule` begins
  // with, below the rule itself: then appending the rule whole would part what belongs together.
  bool pairs_with_tail(uint32_t rule) const;

  // While pinned, a rule is not removed, inlined or dissolved. Unpinning defers that to process().
  void pin(uint32_t rule) { ++nodes_[rule].count; }
  void unpin(uint32_t rule) {
    if (--nodes_[rule].count == 0) queue_rule(rule);
  }
  // Does all work that waits in the queues.
  void process();

  // The rules, canonically numbered, with `extra` after the end of S.
  Grammar to_grammar(const PodVector<Symbol>& extra) const;
  size_t memory_bytes() const {
    return nodes_.capacity_bytes() + table_.memory_bytes() + digrams_.capacity_bytes() +
           rules_.capacity_bytes();
  }
  void lift_memory_limit() { max_memory_bytes_ = SIZE_MAX; }

 private:
  size_t available() const { return free_count_ + nodes_.capacity() - nodes_.size(); }
  bool make_available(size_t n);
  size_t allowance(size_t now_bytes) const;
  uint32_t allocate(Kind kind, uint32_t id, uint64_t count);
  void release(uint32_t n);
  void recycle(uint32_t n);

  void link(uint32_t a, uint32_t b) { nodes_[a].next = b, nodes_[b].prev = a; }
  bool same(uint32_t a, uint32_t b) const {
    return nodes_[a].id == nodes_[b].id && nodes_[a].kind == nodes_[b].kind && is_symbol(nodes_[a]);
  }
  void add_use(uint32_t n);
  void unlink_use(uint32_t n);
  void drop_use(uint32_t n);

  uint32_t find_pair(uint32_t a, uint32_t b, uint32_t hash) const;
  void index(uint32_t n, uint32_t hash);
  void unindex(uint32_t n);
  void queue_digram(uint32_t n);
  void queue_rule(uint32_t rule);

  bool resolve(uint32_t n);
  uint32_t complete_rule(uint32_t n) const;
  bool make_rule(uint32_t n, uint32_t m);
  void substitute(uint32_t n, uint32_t rule);
  void join_next(uint32_t n);
  void settle(uint32_t n);
  void queue_if_single(uint32_t n);
  void check_rule(uint32_t rule);
  void remove_rule(uint32_t rule);
  void inline_rule(uint32_t rule);
  void dissolve_rule(uint32_t rule);

  PodVector<Node> nodes_;
  uint32_t free_head_ = 0;  // chained through next; 0: none
  size_t free_count_ = 0;
  size_t reserved_count_ = 0;
  DigramTable table_;
  PodVector<uint32_t> digrams_;  // pairs to look up, by their left node
  PodVector<uint32_t> rules_;    // rules that lost a use or shrank
  size_t max_memory_bytes_;
};

}  // namespace refrain::grammar
