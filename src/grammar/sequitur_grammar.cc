// From linked rules to the flat Grammar.
#include <vector>

#include "grammar/sequitur.h"

namespace refrain::grammar {
namespace {

// A rule being visited, and the symbol that comes next, walking from right to left.
struct Visit {
  uint32_t rule;
  uint32_t symbol;
};

}  // namespace

// Reverse postorder of a walk from right to left: see Grammar for why. The walk keeps its own
// stack.
Grammar Sequitur::to_grammar(const PodVector<Symbol>& extra) const {
  constexpr uint32_t kSeen = 1;
  std::vector<uint32_t> number(nodes_.size(), 0);  // by guard; while walking: 0 or kSeen
  std::vector<uint32_t> postorder;
  std::vector<Visit> stack;
  size_t symbols = extra.size();
  const auto visit = [&](uint32_t rule) {
    if (number[rule] == kSeen) return;
    number[rule] = kSeen;
    stack.push_back(Visit{rule, nodes_[rule].prev});
  };
  const auto walk = [&](uint32_t root) {
    visit(root);
    while (!stack.empty()) {
      Visit& top = stack.back();
      const Node& n = nodes_[top.symbol];
      if (n.kind == Kind::kGuard) {
        postorder.push_back(top.rule);
        stack.pop_back();
        continue;
      }
      top.symbol = n.prev;
      ++symbols;
      if (n.kind == Kind::kRule) visit(n.id);
    }
  };
  for (size_t i = extra.size(); i-- > 0;)
    if (extra[i].is_rule) walk(extra[i].id);
  walk(kStart);

  Grammar grammar;
  grammar.rule_end.clear();
  grammar.symbols.reserve(symbols);
  for (size_t i = 0; i < postorder.size(); ++i)
    number[postorder[i]] = static_cast<uint32_t>(postorder.size() - 1 - i);
  const auto put = [&](uint32_t id, bool is_rule, uint64_t count) {
    grammar.symbols.push_back(Symbol{is_rule ? number[id] : id, is_rule, count});
  };
  for (size_t r = postorder.size(); r-- > 0;) {
    const uint32_t rule = postorder[r];
    for (uint32_t n = nodes_[rule].next; n != rule; n = nodes_[n].next)
      put(nodes_[n].id, nodes_[n].kind == Kind::kRule, nodes_[n].count);
    if (rule == kStart)
      for (size_t i = 0; i < extra.size(); ++i) put(extra[i].id, extra[i].is_rule, extra[i].count);
    grammar.rule_end.push_back(static_cast<uint32_t>(grammar.symbols.size()));
  }
  return grammar;
}

}  // namespace refrain::grammar
