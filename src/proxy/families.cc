#include "proxy/families.h"

#include <string>

#include "reader/internal.h"

namespace refrain::proxy {
namespace {

bool is_alike(const Trace& trace, const Kind& a, const Kind& b) {
  if (a.group->signatures.size() != b.group->signatures.size() ||
      a.grammar->rule_end != b.grammar->rule_end)
    return false;
  for (size_t i = 0; i < a.grammar->symbols.size(); ++i) {
    const grammar::Symbol &x = a.grammar->symbols[i], &y = b.grammar->symbols[i];
    if (x.id != y.id || x.is_rule != y.is_rule) return false;
  }
  for (size_t t = 0; t < a.group->signatures.size(); ++t)
    if (trace.call_of(a.group->signatures[t]) != trace.call_of(b.group->signatures[t]))
      return false;
  return true;
}

std::vector<uint64_t> lengths_of(const grammar::Grammar& grammar) {
  std::vector<uint64_t> out(grammar.rule_count());
  for (size_t r = grammar.rule_count(); r-- > 0;)
    for (uint32_t s = grammar.rule_begin(r); s < grammar.rule_end[r]; ++s) {
      const grammar::Symbol& symbol = grammar.symbols[s];
      out[r] += symbol.count * (symbol.is_rule ? out[symbol.id] : 1);
    }
  return out;
}

}  // namespace

size_t main_loop_of(const grammar::Grammar& grammar) {
  const std::vector<uint64_t> lengths = lengths_of(grammar);
  size_t out = SIZE_MAX;
  uint64_t longest = 0;
  for (uint32_t s = 0; s < grammar.rule_end[0]; ++s) {
    const grammar::Symbol& symbol = grammar.symbols[s];
    const uint64_t calls = symbol.count * (symbol.is_rule ? lengths[symbol.id] : 1);
    if (symbol.count > 1 && calls > longest) out = s, longest = calls;
  }
  return out;
}

base::Result<std::vector<Family>> families_of(const Trace& trace) {
  const format::TraceData& data = reader::data_of(trace);
  std::vector<Family> out;
  uint64_t ranks = 0;
  for (uint32_t g = 0; g < data.groups.size(); ++g) {
    const format::Group& group = data.groups[g];
    ranks += group.ranks.size();
    if (group.ranks.empty()) continue;
    if (group.locations.size() != 1)
      return base::unsupported("rank " + std::to_string(group.ranks.at(0)) + " has " +
                                   std::to_string(group.locations.size()) +
                                   " threads with calls, and a proxy has one",
                               trace.name());
    Kind kind{g, &group, &data.grammars[group.locations[0].grammar]};
    bool is_new = true;
    for (Family& family : out)
      if (is_alike(trace, family.kinds.front(), kind)) {
        family.kinds.push_back(kind);
        is_new = false;
        break;
      }
    if (is_new) out.push_back({{kind}});
  }
  if (out.empty() || ranks < static_cast<uint64_t>(trace.rank_count()))
    return base::unsupported("the calls of some ranks are missing, and the others wait for them",
                             trace.name());
  return out;
}

}  // namespace refrain::proxy
