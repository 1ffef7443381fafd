#include "grammar/sequitur.h"

#include <algorithm>

namespace refrain::grammar {

namespace {

// The counts are part of a pair: b^3 C and b^2 C are two pairs, as a rule stands for an exact
// sequence. Kind and count are shifted to bits that the 32 of the id leave free.
uint32_t hash_pair(const Node& a, const Node& b) {
  uint64_t h = (a.id ^ static_cast<uint64_t>(a.kind) << 32 ^ a.count << 33) * 0x9e3779b97f4a7c15u;
  h ^= h >> 29;
  h += b.id ^ static_cast<uint64_t>(b.kind) << 32 ^ b.count << 33;
  h *= 0xbf58476d1ce4e5b9u;
  return static_cast<uint32_t>(h >> 32);
}

bool equal_symbols(const Node& a, const Node& b) {
  return a.id == b.id && a.kind == b.kind && a.count == b.count;
}

}  // namespace

Sequitur::Sequitur(size_t max_memory_bytes) : max_memory_bytes_(max_memory_bytes) {
  if (!make_available(1)) return;
  allocate(Kind::kGuard, kStart, 0);
}

// ---- memory ----

// All arrays share one bound.
//
// How many bytes an array that takes `now_bytes` may grow to.
size_t Sequitur::allowance(size_t now_bytes) const {
  const size_t others = memory_bytes() - now_bytes;
  return others >= max_memory_bytes_ ? 0 : max_memory_bytes_ - others;
}

bool Sequitur::make_available(size_t n) {
  if (available() >= n) return true;
  const size_t wanted = std::max(nodes_.next_capacity(), nodes_.capacity() + (n - available()));
  if (wanted > UINT32_MAX || wanted * sizeof(Node) > allowance(nodes_.capacity_bytes()))
    return false;
  return nodes_.reserve(wanted);
}

// What runs between reserve() and push_back() may make rules: make_rule() leaves the reserved nodes
// alone. So an append fails before it has changed anything, or not at all.
bool Sequitur::reserve(size_t n) {
  if (!make_available(n)) return false;
  reserved_count_ = n;
  return true;
}

// The caller made sure that there is one.
uint32_t Sequitur::allocate(Kind kind, uint32_t id, uint64_t count) {
  uint32_t n = free_head_;
  if (n != 0) {
    free_head_ = nodes_[n].next;
    --free_count_;
  } else {
    n = static_cast<uint32_t>(nodes_.size());
    nodes_.push_back(Node{});
  }
  nodes_[n] = Node{};
  nodes_[n].kind = kind;
  nodes_[n].id = id;
  nodes_[n].count = count;
  return n;
}

// A node that still stands in a queue is recycled when it leaves it: removing it from the middle of
// a queue would take a search, and another symbol in the same node would be looked up in its place.
void Sequitur::release(uint32_t n) {
  if (nodes_[n].queued) {
    nodes_[n].kind = Kind::kDead;
  } else {
    recycle(n);
  }
}

void Sequitur::recycle(uint32_t n) {
  nodes_[n].kind = Kind::kFree;
  nodes_[n].next = free_head_;
  free_head_ = n;
  ++free_count_;
}

// ---- uses ----

// The uses of a rule are a doubly linked list, so that a use leaves it in constant time, and
// dissolve_rule() finds all of them without walking the grammar. The guard has the first use in
// next_use and their number in prev_use.
void Sequitur::add_use(uint32_t n) {
  if (nodes_[n].kind != Kind::kRule) return;
  Node& rule = nodes_[nodes_[n].id];
  nodes_[n].next_use = rule.next_use;
  nodes_[n].prev_use = 0;
  if (rule.next_use != 0) nodes_[rule.next_use].prev_use = n;
  rule.next_use = n;
  ++rule.prev_use;
}

void Sequitur::unlink_use(uint32_t n) {
  const Node& use = nodes_[n];
  Node& rule = nodes_[use.id];
  if (use.prev_use != 0) {
    nodes_[use.prev_use].next_use = use.next_use;
  } else {
    rule.next_use = use.next_use;
  }
  if (use.next_use != 0) nodes_[use.next_use].prev_use = use.prev_use;
  --rule.prev_use;
}

// As unlink_use(), and the rule may have become useless: that is looked at later, when no pair is
// half replaced.
void Sequitur::drop_use(uint32_t n) {
  if (nodes_[n].kind != Kind::kRule) return;
  unlink_use(n);
  queue_rule(nodes_[n].id);
}

// ---- the digram table and the queues ----

// Where the pair that looks like symbols a and b, neighbours or not, is indexed, or 0.
uint32_t Sequitur::find_pair(uint32_t a, uint32_t b, uint32_t hash) const {
  return table_.find(hash, [this, a, b](uint32_t n) {
    return equal_symbols(nodes_[n], nodes_[a]) && equal_symbols(nodes_[nodes_[n].next], nodes_[b]);
  });
}

// Without memory for a larger table the pair is not entered: its twin is not found later, and the
// grammar has a rule less.
void Sequitur::index(uint32_t n, uint32_t hash) {
  const size_t most = table_.is_to_grow() ? allowance(table_.memory_bytes()) : SIZE_MAX;
  nodes_[n].indexed = table_.insert(hash, n, most);
}

// Comes before any change of the symbols of the pair.
void Sequitur::unindex(uint32_t n) {
  if (!nodes_[n].indexed) return;
  table_.erase(hash_pair(nodes_[n], nodes_[nodes_[n].next]), n);
  nodes_[n].indexed = false;
}

void Sequitur::queue_digram(uint32_t n) {
  Node& node = nodes_[n];
  if (node.queued || !is_symbol(node) || !is_symbol(nodes_[node.next])) return;
  node.queued = digrams_.push_back(n);
}

void Sequitur::queue_rule(uint32_t rule) {
  if (!nodes_[rule].queued) nodes_[rule].queued = rules_.push_back(rule);
}

// Rules come first: one that has lost its uses still has pairs in the table, which a pair that is
// resolved now could match.
void Sequitur::process() {
  while (true) {
    if (!rules_.empty()) {
      const uint32_t rule = rules_.pop_back();
      nodes_[rule].queued = false;
      if (nodes_[rule].kind == Kind::kDead) {
        recycle(rule);
      } else {
        check_rule(rule);
      }
    } else if (!digrams_.empty()) {
      const uint32_t n = digrams_.pop_back();
      nodes_[n].queued = false;
      if (nodes_[n].kind == Kind::kDead) {
        recycle(n);
      } else if (nodes_[n].next != tail()) {  // the pair with the open tail has to wait
        resolve(n);
      }
    } else {
      return;
    }
  }
}

// ---- the tail ----

void Sequitur::push_back(Kind kind, uint32_t id, uint64_t count) {
  const uint32_t n = allocate(kind, id, count);
  --reserved_count_;
  // Looked up when the next symbol comes: a program of many different calls would wait for it then.
  table_.prefetch(hash_pair(nodes_[tail()], nodes_[n]));
  link(tail(), n);
  link(n, kStart);
  add_use(n);
}

bool Sequitur::close_tail() {
  if (!resolve(nodes_[tail()].prev)) return false;
  process();
  return true;
}

// Goes down the left edge of the rule; its length is the depth of the grammar, a logarithm of what
// it stands for.
bool Sequitur::pairs_with_tail(uint32_t rule) const {
  if (tail() == kStart) return false;
  while (true) {
    const uint32_t first = nodes_[rule].next;
    if (find_pair(tail(), first, hash_pair(nodes_[tail()], nodes_[first])) != 0) return true;
    if (nodes_[first].kind != Kind::kRule) return false;
    rule = nodes_[first].id;
  }
}

// ---- digram uniqueness ----

// Enters the pair (n, next), or replaces it and its twin by a rule: then true.
bool Sequitur::resolve(uint32_t n) {
  if (!is_symbol(nodes_[n]) || !is_symbol(nodes_[nodes_[n].next]) || nodes_[n].indexed)
    return false;
  const uint32_t next = nodes_[n].next, hash = hash_pair(nodes_[n], nodes_[next]);
  const uint32_t m = find_pair(n, next, hash);
  if (m == 0) {
    index(n, hash);
    return false;
  }
  // A pair that is all of a rule needs no other rule: the other pair becomes a use of it. Either of
  // the two may be it.
  if (const uint32_t rule = complete_rule(m); rule != 0) {
    substitute(n, rule);
    return true;
  }
  if (const uint32_t rule = complete_rule(n); rule != 0) {
    unindex(m);
    index(n, hash);
    substitute(m, rule);
    return true;
  }
  return make_rule(n, m);
}

// The rule whose whole body is the pair at n, or 0.
uint32_t Sequitur::complete_rule(uint32_t n) const {
  const uint32_t before = nodes_[n].prev;
  const uint32_t after = nodes_[nodes_[n].next].next;
  return before == after && nodes_[before].kind == Kind::kGuard ? before : 0;
}

// Both pairs become uses of a new rule. False without memory: the pair then stands twice, which is
// larger and still exact. m is taken out of the table before the rule's own pair goes in under the
// same hash.
bool Sequitur::make_rule(uint32_t n, uint32_t m) {
  if (!make_available(reserved_count_ + 3)) return false;
  const uint32_t rule = allocate(Kind::kGuard, 0, 0);
  nodes_[rule].id = rule;
  const Node left = nodes_[m];
  const Node right = nodes_[left.next];
  const uint32_t a = allocate(left.kind, left.id, left.count);
  const uint32_t b = allocate(right.kind, right.id, right.count);
  link(rule, a);
  link(a, b);
  link(b, rule);
  add_use(a);
  add_use(b);
  unindex(m);
  index(a, hash_pair(nodes_[a], nodes_[nodes_[a].next]));
  substitute(m, rule);
  substitute(n, rule);
  return true;
}

// The pair (n, next) becomes one use of `rule`. Three pairs change by it (the one before, itself,
// the one after), and must leave the table while it can still find them by their old symbols.
void Sequitur::substitute(uint32_t n, uint32_t rule) {
  const uint32_t b = nodes_[n].next;
  unindex(nodes_[n].prev);
  unindex(n);
  unindex(b);
  drop_use(n);
  drop_use(b);
  link(n, nodes_[b].next);
  release(b);
  nodes_[n].kind = Kind::kRule;
  nodes_[n].id = rule;
  nodes_[n].count = 1;
  add_use(n);
  settle(n);
}

// Adds the next symbol, which is the same, to n.
void Sequitur::join_next(uint32_t n) {
  const uint32_t b = nodes_[n].next;
  unindex(nodes_[n].prev);
  unindex(n);
  unindex(b);
  nodes_[n].count += nodes_[b].count;
  link(n, nodes_[b].next);
  drop_use(b);
  release(b);
}

// After the symbol at n is new: joins equal neighbours, queues what has to be looked at. Joining
// first keeps the law that neighbours differ, so that two pairs never share a symbol and can be
// replaced in either order.
void Sequitur::settle(uint32_t n) {
  if (same(nodes_[n].prev, n)) {
    n = nodes_[n].prev;
    join_next(n);
  }
  if (same(n, nodes_[n].next)) join_next(n);
  queue_digram(nodes_[n].prev);
  queue_digram(n);
  queue_if_single(n);
}

void Sequitur::queue_if_single(uint32_t n) {
  const uint32_t guard = nodes_[n].next;
  if (guard == nodes_[n].prev && guard != kStart) queue_rule(guard);
}

// ---- rule utility ----

void Sequitur::check_rule(uint32_t rule) {
  const Node& guard = nodes_[rule];
  if (guard.count > 0) return;  // pinned
  if (guard.prev_use == 0) {
    remove_rule(rule);
  } else if (guard.prev_use == 1 && nodes_[guard.next_use].count == 1) {
    inline_rule(rule);
  } else if (guard.next == guard.prev) {
    dissolve_rule(rule);
  }
}

void Sequitur::remove_rule(uint32_t rule) {
  for (uint32_t n = nodes_[rule].next; n != rule;) {
    const uint32_t next = nodes_[n].next;
    unindex(n);
    drop_use(n);
    release(n);
    n = next;
  }
  release(rule);
}

// The body takes the place of the only use. Its nodes are relinked, not copied, so their pairs
// inside stay indexed; only the two seams are new.
void Sequitur::inline_rule(uint32_t rule) {
  const uint32_t use = nodes_[rule].next_use;
  const uint32_t before = nodes_[use].prev;
  const uint32_t after = nodes_[use].next;
  uint32_t first = nodes_[rule].next;
  uint32_t last = nodes_[rule].prev;
  unindex(before);
  unindex(use);
  link(before, first);
  link(last, after);
  release(use);
  release(rule);
  if (same(before, first)) {
    if (first == last) last = before;
    first = before;
    join_next(before);
  }
  if (same(last, nodes_[last].next)) join_next(last);
  queue_digram(nodes_[first].prev);
  queue_digram(first);
  queue_digram(nodes_[last].prev);
  queue_digram(last);
  queue_if_single(last);
}

// The body is one symbol: every use becomes that symbol, counts multiplied. settle() may join a use
// with its neighbour, which may be a use as well, so the list is taken from its head each time.
void Sequitur::dissolve_rule(uint32_t rule) {
  const uint32_t body = nodes_[rule].next;
  while (nodes_[rule].next_use != 0) {
    const uint32_t use = nodes_[rule].next_use;
    unindex(nodes_[use].prev);
    unindex(use);
    unlink_use(use);
    nodes_[use].kind = nodes_[body].kind;
    nodes_[use].id = nodes_[body].id;
    nodes_[use].count *= nodes_[body].count;
    add_use(use);
    settle(use);
  }
  drop_use(body);
  release(body);
  release(rule);
}

}  // namespace refrain::grammar
