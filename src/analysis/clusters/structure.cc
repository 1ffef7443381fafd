#include "analysis/clusters/structure.h"

#include <utility>
#include <vector>

#include "format/codes/checksum.h"
#include "grammar/fold.h"
#include "similarity/structure.h"

namespace refrain::analysis::clusters {

using similarity::StructureKey;

// A rule shows nothing new the second time.
std::vector<uint32_t> in_order_of_appearance(const grammar::Grammar& g, size_t terminal_count) {
  std::vector<uint32_t> out;
  std::vector<bool> is_known(terminal_count, false), is_seen(g.rule_count(), false);
  std::vector<std::pair<uint32_t, uint32_t>> open = {{0, g.rule_begin(0)}};  // rule, symbol
  is_seen[0] = true;
  while (!open.empty()) {
    auto& [rule, at] = open.back();
    if (at == g.rule_end[rule]) {
      open.pop_back();
      continue;
    }
    const grammar::Symbol& s = g.symbols[at++];
    if (s.is_rule && !is_seen[s.id]) {
      is_seen[s.id] = true;
      open.emplace_back(s.id, g.rule_begin(s.id));
    } else if (!s.is_rule && !is_known[s.id]) {
      is_known[s.id] = true;
      out.push_back(s.id);
    }
  }
  return out;
}

uint64_t sequence_hash(const grammar::Grammar& grammar, std::span<const uint64_t> classes,
                       bool tells_equal_calls) {
  std::vector<uint64_t> numbers(classes.size(), 0);
  if (tells_equal_calls) {
    uint64_t next = 0;
    for (const uint32_t t : in_order_of_appearance(grammar, classes.size())) numbers[t] = next++;
  }
  const auto leaf = [&](grammar::Terminal t) {
    const uint64_t words[] = {classes[t], numbers[t]};
    StructureKey key;
    key.append(format::hash64(words, sizeof words));
    return key;
  };
  const auto join = [](StructureKey a, const StructureKey& b) {
    a.append(b);
    return a;
  };
  const auto power = [](const StructureKey& key, uint64_t n) { return key.repeated(n); };
  return grammar::fold(grammar, StructureKey(), leaf, join, power).value();
}

}  // namespace refrain::analysis::clusters
