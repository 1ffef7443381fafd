#include "proxy/families.h"

#include <algorithm>
#include <string>

#include "reader/internal.h"

namespace refrain::proxy {
namespace {

bool is_alike(const Trace& trace, const Kind& a, const Kind& b) {
  if (a.thread != b.thread || a.group->signatures.size() != b.group->signatures.size() ||
      a.grammar->rule_end != b.grammar->rule_end)
    return false;
  for (size_t i = 0; i < a.grammar->symbols.size(); ++i) {
    const grammar::Symbol &x = a.grammar->symbols[i], &y = b.grammar->symbols[i];
    if (x.id != y.id || x.is_rule != y.is_rule) return false;
  }
  for (const grammar::Symbol& symbol : a.grammar->symbols)  // which are all of this thread
    if (!symbol.is_rule && trace.call_of(a.group->signatures[symbol.id]) !=
                               trace.call_of(b.group->signatures[symbol.id]))
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

std::vector<uint32_t> Kind::terminals() const {
  std::vector<uint32_t> out;
  for (const grammar::Symbol& symbol : grammar->symbols)
    if (!symbol.is_rule) out.push_back(symbol.id);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<uint64_t> Kind::counts() const {
  std::vector<uint64_t> out(group->signatures.size()), times(grammar->rule_count());
  times[0] = 1;
  for (size_t r = 0; r < times.size(); ++r)  // rules stand behind those that use them
    for (uint32_t s = grammar->rule_begin(r); s < grammar->rule_end[r]; ++s) {
      const grammar::Symbol& symbol = grammar->symbols[s];
      (symbol.is_rule ? times : out)[symbol.id] += times[r] * symbol.count;
    }
  return out;
}

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
    if (group.locations.empty() || group.locations[0].thread != 0)
      return base::unsupported(
          "rank " + std::to_string(group.ranks.at(0)) + " has no calls of its first thread",
          trace.name());
    for (const format::ThreadGrammar& location : group.locations) {
      const Kind kind{g, location.thread, &group, &data.grammars[location.grammar]};
      const auto known = std::find_if(out.begin(), out.end(), [&](const Family& family) {
        return is_alike(trace, family.kinds.front(), kind);
      });
      if (known == out.end())
        out.push_back({{kind}});
      else
        known->kinds.push_back(kind);
    }
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Family& a, const Family& b) { return a.thread() < b.thread(); });
  if (out.empty() || ranks < static_cast<uint64_t>(trace.rank_count()))
    return base::unsupported("the calls of some ranks are missing, and the others wait for them",
                             trace.name());
  return out;
}

}  // namespace refrain::proxy
