#include "grammar/concatenate.h"

namespace refrain::grammar {

Concatenation::Key Concatenation::key_of(const Body& body) {
  Key key;
  key.reserve(2 * body.size());
  for (const Symbol& s : body) {
    key.push_back(uint64_t{s.id} << 1 | (s.is_rule ? 1 : 0));
    key.push_back(s.count);
  }
  return key;
}

void Concatenation::add(const Grammar& g) {
  std::vector<uint32_t> number(g.rule_count(), 0);
  for (size_t r = g.rule_count(); r-- > 0;) {
    Body body;
    for (uint32_t i = g.rule_begin(r); i < g.rule_end[r]; ++i) {
      Symbol s = g.symbols[i];
      if (s.is_rule) s.id = number[s.id];
      body.push_back(s);
    }
    if (r > 0) {
      const auto [at, is_new] =
          known_.try_emplace(key_of(body), static_cast<uint32_t>(bodies_.size()));
      if (is_new) bodies_.push_back(std::move(body));
      number[r] = at->second;
      continue;
    }
    for (const Symbol& s : body) {
      if (!start_.empty() && start_.back().id == s.id && start_.back().is_rule == s.is_rule)
        start_.back().count += s.count;
      else
        start_.push_back(s);
    }
  }
}

// Children have lower numbers here, and higher ones in a Grammar.
void Concatenation::put(const Body& body, Grammar& g) const {
  for (Symbol s : body) {
    if (s.is_rule) s.id = static_cast<uint32_t>(bodies_.size()) - s.id;
    g.symbols.push_back(s);
  }
  g.rule_end.push_back(static_cast<uint32_t>(g.symbols.size()));
}

Grammar Concatenation::finish() const {
  Grammar g;
  g.rule_end.clear();
  put(start_, g);
  for (size_t r = bodies_.size(); r-- > 0;) put(bodies_[r], g);
  return g;
}

}  // namespace refrain::grammar
