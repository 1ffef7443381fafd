#include "similarity/loops.h"

#include "grammar/fold.h"

namespace refrain::similarity {

using grammar::Symbol;

LoopWalk::LoopWalk(const grammar::Grammar& grammar, const LoopOptions& options,
                   ContextTable* contexts)
    : grammar_(grammar), options_(options), contexts_(contexts), rules_(grammar.rule_count()) {
  prepare_rules();
  enter(0, true);
  levels_.push_back({ContextTable::kRoot, ContextTable::kNone});
}

StructureKey LoopWalk::call_key(grammar::Terminal terminal) const {
  StructureKey key;
  key.append(options_.call_keys.empty() ? terminal : options_.call_keys[terminal]);
  return key;
}

void LoopWalk::prepare_rules() {
  const std::vector<uint64_t> uses = grammar::rule_occurrences(grammar_);
  // Lengths and keys from below, loops from their uses.
  for (size_t r = rules_.size(); r-- > 0;) {
    Rule& rule = rules_[r];
    for (uint32_t i = grammar_.rule_begin(r); i < grammar_.rule_end[r]; ++i) {
      const Symbol& s = grammar_.symbols[i];
      const StructureKey once = s.is_rule ? rules_[s.id].key : call_key(s.id);
      const uint64_t length = s.is_rule ? rules_[s.id].length : 1;
      rule.key.append(s.count == 1 ? once : once.repeated(s.count));
      rule.length += length * s.count;
      const bool repeats = s.count >= options_.min_iterations && length >= options_.min_calls;
      if (repeats && s.is_rule) rules_[s.id].is_loop = true;
      if (repeats && !s.is_rule) rule.cuts = true;
    }
    rule.recurs = r > 0 && options_.min_uses > 0 && uses[r] >= options_.min_uses &&
                  rule.length >= options_.min_calls;
  }
  // A loop is one wherever it is used: only now is it known which are.
  for (size_t r = rules_.size(); r-- > 0;) {
    Rule& rule = rules_[r];
    rule.cuts_root = rule.cuts;
    for (uint32_t i = grammar_.rule_begin(r); i < grammar_.rule_end[r]; ++i) {
      const Symbol& s = grammar_.symbols[i];
      if (!s.is_rule) continue;
      const Rule& used = rules_[s.id];
      rule.cuts = rule.cuts || used.is_loop || used.cuts;
      rule.cuts_root = rule.cuts_root || used.is_loop || used.recurs || used.cuts_root;
    }
  }
}

void LoopWalk::enter(uint32_t rule, bool is_iteration) {
  const uint32_t begin = grammar_.rule_begin(rule);
  const uint32_t end = grammar_.rule_end[rule];
  frames_.push_back({begin, end, begin < end ? grammar_.symbols[begin].count : 0, is_iteration});
}

void LoopWalk::advance(Frame* frame) {
  if (++frame->symbol < frame->end) frame->left = grammar_.symbols[frame->symbol].count;
}

bool LoopWalk::is_loop(const Symbol& s) const {
  const bool in_loop = levels_.size() > 1;
  if (in_loop && options_.nesting == LoopOptions::Nesting::kOutermost) return false;
  if (!s.is_rule) return options_.min_calls <= 1 && s.count >= options_.min_iterations;
  return rules_[s.id].is_loop || (!in_loop && rules_[s.id].recurs);
}

bool LoopWalk::cuts(const Symbol& s) const {
  if (!s.is_rule) return false;
  if (levels_.size() == 1) return rules_[s.id].cuts_root;
  return options_.nesting == LoopOptions::Nesting::kParts && rules_[s.id].cuts;
}

// The calls since the last cut as a segment; false when there are none.
bool LoopWalk::cut(LoopSegment* out) {
  if (calls_ == 0) return false;
  const Level& level = levels_.back();
  *out = {contexts_->part(level.owner, level.previous), key_.value(), first_, calls_};
  first_ += calls_;
  calls_ = 0;
  key_ = {};
  return true;
}

uint32_t LoopWalk::owner_of(const Symbol& s) {
  return contexts_->loop(uint64_t{s.id} << 1 | (s.is_rule ? 1 : 0), levels_.back().owner);
}

// The rule on top has been read to its end, and nothing is left to cut.
void LoopWalk::leave() {
  const bool was_iteration = frames_.back().is_iteration;
  frames_.pop_back();
  const uint32_t owner = levels_.back().owner;
  if (was_iteration) levels_.pop_back();
  if (frames_.empty()) return;
  Frame& frame = frames_.back();
  if (--frame.left > 0) return;
  if (was_iteration) levels_.back().previous = owner;
  advance(&frame);
}

// A loop of one call: each repetition is a segment.
bool LoopWalk::repeated_call(Frame* frame, const Symbol& s, LoopSegment* out) {
  const uint32_t owner = owner_of(s);
  levels_.push_back({owner, ContextTable::kNone});
  key_.append(call_key(s.id));
  calls_ = 1;
  const bool is_cut = cut(out);
  levels_.pop_back();
  if (--frame->left == 0) {
    levels_.back().previous = owner;
    advance(frame);
  }
  return is_cut;
}

bool LoopWalk::next(LoopSegment* out) {
  while (!frames_.empty()) {
    Frame& frame = frames_.back();
    if (frame.symbol == frame.end) {
      if (frame.is_iteration && cut(out)) return true;
      leave();
      continue;
    }
    const Symbol& s = grammar_.symbols[frame.symbol];
    if (is_loop(s)) {
      if (cut(out)) return true;
      if (!s.is_rule) return repeated_call(&frame, s, out);
      levels_.push_back({owner_of(s), ContextTable::kNone});
      enter(s.id, true);
    } else if (cuts(s)) {
      enter(s.id, false);
    } else {
      const StructureKey once = s.is_rule ? rules_[s.id].key : call_key(s.id);
      key_.append(s.count == 1 ? once : once.repeated(s.count));
      calls_ += (s.is_rule ? rules_[s.id].length : 1) * s.count;
      advance(&frame);
    }
  }
  return false;
}

}  // namespace refrain::similarity
