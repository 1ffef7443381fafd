// Grammars as bytes. docs/format.md describes the items; Writer and Reader keep the same Context,
// so that both derive a symbol's id from what came before. A grammar is read from files that may be
// damaged or made up: the Reader bounds what it allocates by the bytes that it has seen, and
// validate() looks at the whole before anybody walks it.

#include "grammar/grammar.h"

#include <algorithm>
#include <string>

#include "base/wide.h"
#include "grammar/fold.h"

namespace refrain::grammar {

using base::Result;
using base::Status;
using base::unzigzag;
using base::zigzag;

namespace {

enum Item : uint64_t { kTerminalItem = 0, kRuleItem = 1, kAscentItem = 2, kRepeatedItem = 3 };

// Each rule's own shape and references; lengths come after. A rule may refer to later rules only:
// so no rule contains itself, walks end, and fold.h can compute every rule from those behind it,
// without recursion.
Status validate_rules(const Grammar& g, const Limits& limits) {
  std::vector<bool> used(g.rule_count(), false);
  for (size_t r = 0; r < g.rule_count(); ++r) {
    const uint32_t begin = g.rule_begin(r);
    const uint32_t end = g.rule_end[r];
    if (end < begin || end > g.symbols.size()) return base::fail("grammar: a rule has no end");
    if (r > 0 && begin == end) return base::fail("grammar: a rule is empty");
    if (r > 0 && !used[r]) return base::fail("grammar: a rule is not used");
    for (uint32_t i = begin; i < end; ++i) {
      const Symbol& s = g.symbols[i];
      if (s.count == 0) return base::fail("grammar: a symbol is repeated 0 times");
      if (!s.is_rule && s.id >= limits.terminal_count)
        return base::fail("grammar: terminal " + std::to_string(s.id) + " of " +
                          std::to_string(limits.terminal_count));
      if (!s.is_rule) continue;
      if (s.id <= r || s.id >= g.rule_count())
        return base::fail("grammar: rule " + std::to_string(r) + " refers to rule " +
                          std::to_string(s.id));
      used[s.id] = true;
    }
  }
  return base::Done{};
}

// What the writer and the reader of items both remember. Ids are written as distances from it:
// terminals are numbered by first occurrence and rules by first use, so that the next one is mostly
// the one after the last, a distance of 0 or 1.
struct Context {
  int64_t previous = -1;  // the last terminal, also of another rule
  int64_t unseen = 1;     // the first rule that nothing has referred to yet; rule 0 is the start
  uint64_t ascents = 0;   // terminals in ascents so far
};

class Writer {
 public:
  Writer(const Grammar& grammar, base::ByteWriter& out, base::ByteWriter* numbers)
      : g_(grammar), out_(out), numbers_(numbers) {}

  void write() {
    out_.put_varint(g_.rule_count());
    for (size_t r = 0; r < g_.rule_count(); ++r) write_rule(g_.rule_begin(r), g_.rule_end[r]);
  }

 private:
  void write_rule(uint32_t begin, uint32_t end) {
    // The number of items stands in front of them, and is known after them: an ascent is one item
    // for many symbols.
    items_.clear();
    uint64_t count = 0;
    for (uint32_t i = begin; i < end; ++count) {
      const uint32_t n = ascent(i, end);
      if (n > 0) {
        items_.put_varint(large(n - 1) << 2 | kAscentItem);
        c_.previous += n;
        c_.ascents += n;
        i += n;
      } else {
        write_symbol(g_.symbols[i++]);
      }
    }
    out_.put_varint(count);
    out_.put_bytes(items_.view().data(), items_.size());
  }

  // What stands among the items for v. Large numbers differ from run to run (iterations of a loop):
  // they are kept apart, so that grammars of equal structure have equal bytes and compress together
  // (docs/decisions/0010).
  uint64_t large(uint64_t v) {
    if (numbers_ == nullptr || v < kLargeRepeat) return v;
    base::put_wide(*numbers_, v);
    return kLargeRepeat;
  }

  // How many symbols from i on go on from the terminal before, one by one. The Reader knows the
  // number of terminals only from its Limits, and takes no more of them out of ascents than that.
  uint32_t ascent(uint32_t i, uint32_t end) {
    const Symbol* const first = g_.symbols.data() + i;
    const auto goes_on = [](const Symbol& s, int64_t next) {
      return !s.is_rule && s.count == 1 && int64_t{s.id} == next;
    };
    int64_t next = c_.previous + 1;
    if (!goes_on(*first, next)) return 0;
    uint64_t most = end - i;
    // Most ascents are of terminals that none had before: then there are as many as they need.
    if (c_.ascents > static_cast<uint64_t>(next)) most = std::min(most, terminals() - c_.ascents);
    const Symbol* s = first;
    while (s != first + most && goes_on(*s, next)) ++s, ++next;
    return static_cast<uint32_t>(s - first);
  }

  uint64_t terminals() {
    if (terminals_ > 0) return terminals_;
    for (const Symbol& s : g_.symbols)
      if (!s.is_rule) terminals_ = std::max(terminals_, uint64_t{s.id} + 1);
    return terminals_;
  }

  void write_symbol(const Symbol& s) {
    const int64_t base = s.is_rule ? c_.unseen : c_.previous;
    const uint64_t distance = zigzag(int64_t{s.id} - base);
    if (s.count == 1) {
      items_.put_varint(distance << 2 | (s.is_rule ? kRuleItem : kTerminalItem));
    } else {
      items_.put_varint((distance << 1 | (s.is_rule ? 1 : 0)) << 2 | kRepeatedItem);
      items_.put_varint(large(s.count - 2));
    }
    if (s.is_rule) {
      c_.unseen = std::max(c_.unseen, int64_t{s.id} + 1);
    } else {
      c_.previous = s.id;
    }
  }

  const Grammar& g_;
  base::ByteWriter& out_;
  base::ByteWriter* numbers_;
  base::ByteWriter items_;
  Context c_;
  uint64_t terminals_ = 0;  // 0: not counted
};

class Reader {
 public:
  Reader(base::ByteReader& in, const Limits& limits, base::ByteReader* numbers)
      : in_(in), limits_(limits), numbers_(numbers) {}

  Result<Grammar> read() {
    // count() refuses more rules than there are bytes, as each takes one at least: that bounds the
    // reserve below.
    const uint64_t rules = in_.count(UINT32_MAX);
    if (rules == 0) return damaged();
    g_.rule_end.clear();
    g_.rule_end.reserve(rules);
    for (uint64_t r = 0; r < rules; ++r) {
      const uint64_t items = in_.count(UINT32_MAX);
      for (uint64_t i = 0; i < items; ++i)
        if (!read_item()) return damaged();
      if (!in_.ok() || g_.symbols.size() > UINT32_MAX) return damaged();
      g_.rule_end.push_back(static_cast<uint32_t>(g_.symbols.size()));
    }
    if (Status status = validate(g_, limits_); !status.ok()) {
      base::Error error = status.error();
      error.place = place();
      return error;
    }
    return std::move(g_);
  }

 private:
  bool read_item() {
    const uint64_t x = in_.varint();
    const uint64_t payload = x >> 2;
    if (!in_.ok()) return false;
    uint64_t more = 0;
    switch (x & 3) {
      case kTerminalItem: return put(payload, false, 1);
      case kRuleItem: return put(payload, true, 1);
      case kAscentItem: return large(payload, &more) && put_ascent(more);
      default: break;
    }
    return large(in_.varint(), &more) && in_.ok() && more <= UINT64_MAX - 2 &&
           put(payload >> 1, (payload & 1) != 0, more + 2);
  }

  // The number that `stands` stands for. Small ones must not be written as large: each grammar has
  // one form in bytes.
  bool large(uint64_t stands, uint64_t* v) {
    *v = stands;
    if (numbers_ == nullptr || stands < kLargeRepeat) return true;
    *v = base::get_wide(*numbers_);
    return stands == kLargeRepeat && *v >= kLargeRepeat && numbers_->ok();
  }

  bool put(uint64_t distance, bool is_rule, uint64_t count) {
    // Within these the sum below cannot overflow: ids have 32 bits.
    const int64_t delta = unzigzag(distance);
    if (delta > INT64_MAX / 2 || delta < INT64_MIN / 2) return false;
    const int64_t id = (is_rule ? c_.unseen : c_.previous) + delta;
    if (id < 0 || id > UINT32_MAX) return false;
    if (is_rule) {
      c_.unseen = std::max(c_.unseen, id + 1);
    } else {
      c_.previous = id;
    }
    g_.symbols.push_back(Symbol{static_cast<uint32_t>(id), is_rule, count});
    return true;
  }

  // An item of a few bytes makes more + 1 symbols: all ascents of a grammar together may make one
  // for each terminal, or a small file could take any amount of memory.
  bool put_ascent(uint64_t more) {
    if (more >= limits_.terminal_count - std::min(limits_.terminal_count, c_.ascents)) return false;
    c_.ascents += more + 1;
    for (uint64_t i = 0; i <= more; ++i)
      if (!put(zigzag(1), false, 1)) return false;
    return true;
  }

  std::string place() const { return "offset " + std::to_string(in_.position()); }
  base::Error damaged() {
    const std::string where = place();
    in_.fail();
    return base::fail("grammar: damaged", where);
  }

  base::ByteReader& in_;
  const Limits& limits_;
  base::ByteReader* numbers_;
  Grammar g_;
  Context c_;
};

}  // namespace

Status validate(const Grammar& grammar, const Limits& limits) {
  if (grammar.rule_end.empty() || grammar.rule_end.back() != grammar.symbols.size())
    return base::fail("grammar: the last rule has no end");
  if (Status status = validate_rules(grammar, limits); !status.ok()) return status;
  uint64_t length = 0;
  if (!checked_length(grammar, &length) || length > limits.max_length)
    return base::fail("grammar: it stands for too many terminals");
  return base::Done{};
}

void write(const Grammar& grammar, base::ByteWriter& out, base::ByteWriter* numbers) {
  Writer(grammar, out, numbers).write();
}

Result<Grammar> read(base::ByteReader& in, const Limits& limits, base::ByteReader* numbers) {
  return Reader(in, limits, numbers).read();
}

// Finds equal grammars of many ranks before they are compared symbol by symbol. Never in a file: it
// may change.
uint64_t hash(const Grammar& grammar) {
  uint64_t h = 0x2545f4914f6cdd1du;
  const auto mix = [&h](uint64_t v) {
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    h ^= h >> 32;
  };
  for (const uint32_t end : grammar.rule_end) mix(end);
  for (const Symbol& s : grammar.symbols) {
    mix(uint64_t{s.id} << 1 | (s.is_rule ? 1 : 0));
    mix(s.count);
  }
  return h;
}

}  // namespace refrain::grammar
