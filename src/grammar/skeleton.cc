#include "grammar/skeleton.h"

#include <algorithm>

namespace refrain::grammar {

std::string skeleton_key(const Grammar& grammar) {
  base::ByteWriter out;
  out.put_varint(grammar.rule_end.size());
  for (const uint32_t end : grammar.rule_end) out.put_varint(end);
  for (const Symbol& s : grammar.symbols) out.put_varint(uint64_t{s.id} << 1 | (s.is_rule ? 1 : 0));
  return out.take();
}

bool have_same_skeleton(const Grammar& a, const Grammar& b) {
  const auto same = [](const Symbol& x, const Symbol& y) {
    return x.id == y.id && x.is_rule == y.is_rule;
  };
  return a.rule_end == b.rule_end &&
         std::equal(a.symbols.begin(), a.symbols.end(), b.symbols.begin(), b.symbols.end(), same);
}

}  // namespace refrain::grammar
