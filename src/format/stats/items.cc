#include "format/stats/items.h"

#include <algorithm>
#include <bit>

#include "grammar/fold.h"

namespace refrain::format {

namespace {

uint64_t add(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

}  // namespace

std::vector<uint64_t> calls_by_signature(const TraceData& trace) {
  std::vector<uint64_t> calls(trace.signatures.size(), 0);
  for (const Group& group : trace.groups) {
    const uint64_t ranks = group.ranks.size();
    for (const ThreadGrammar& loc : group.locations) {
      const auto counts =
          grammar::occurrences(trace.grammars[loc.grammar], group.signatures.size());
      for (size_t t = 0; t < counts.size(); ++t) {
        uint64_t all = 0;
        if (__builtin_mul_overflow(counts[t], ranks, &all)) all = UINT64_MAX;
        uint64_t& total = calls[group.signatures[t]];
        total = add(total, all);
      }
    }
  }
  return calls;
}

StatItem stat_item(const TraceData& trace, const std::vector<uint64_t>& calls, uint32_t first,
                   uint32_t members) {
  // Where buffers come first, a number of elements comes fourth: site, id and offset of the buffer.
  constexpr size_t kElements = 3;
  const SignatureTable& all = trace.signatures;
  StatItem item;
  for (uint32_t i = 0; i < members; ++i) item.calls = add(item.calls, calls[first + i]);
  item.call_id = all.structure(first).call_id;
  const std::vector<ExprCode>& codes = all.codes(first);
  if (!codes.empty()) {
    const bool is_table = codes[0] == ExprCode::kTable;
    item.site = static_cast<uint32_t>(all.expr(first, 0).a) << 1 | (is_table ? 1 : 0);
  }
  if (codes.size() > kElements && codes[kElements] == ExprCode::kConst)
    item.size = static_cast<uint8_t>(
        1 + std::bit_width(static_cast<uint64_t>(all.operand(first, kElements))));
  return item;
}

}  // namespace refrain::format
