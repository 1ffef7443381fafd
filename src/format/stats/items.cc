#include "format/stats/items.h"

#include <algorithm>
#include <bit>

#include "base/bytes.h"
#include "grammar/fold.h"

namespace refrain::format {

namespace {

uint64_t add(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

}  // namespace

std::vector<uint64_t> calls_by_signature(const TraceData& trace) {
  std::vector<uint64_t> calls(trace.signatures.size(), 0);
  for (const Group& group : trace.groups) {
    const uint64_t ranks = group.ranks.size();
    for (const Location& loc : group.locations) {
      const auto counts =
          grammar::occurrences(trace.grammars[loc.grammar], group.signatures.size());
      for (size_t t = 0; t < counts.size(); ++t) {
        const bool fits = ranks == 0 || counts[t] <= UINT64_MAX / ranks;
        uint64_t& total = calls[group.signatures[t]];
        total = add(total, fits ? counts[t] * ranks : UINT64_MAX);
      }
    }
  }
  return calls;
}

StatItem stat_item(const TraceData& trace, const std::vector<uint64_t>& calls, uint32_t first,
                   uint32_t members) {
  // Where buffers come first, a number of elements comes fourth: site, id and offset of the buffer.
  constexpr size_t kElements = 3;
  const Signature& s = trace.signatures[first];
  StatItem item;
  for (uint32_t i = 0; i < members; ++i) item.calls = add(item.calls, calls[first + i]);
  base::ByteReader shape(s.shape);
  item.call_id = static_cast<uint32_t>(shape.varint());
  if (!s.slots.empty()) {
    const bool is_table = s.slots[0].kind == Expr::Kind::kTable;
    item.site = static_cast<uint32_t>(s.slots[0].a) << 1 | (is_table ? 1 : 0);
  }
  if (s.slots.size() > kElements && s.slots[kElements].kind == Expr::Kind::kConst)
    item.size =
        static_cast<uint8_t>(1 + std::bit_width(static_cast<uint64_t>(s.slots[kElements].a)));
  return item;
}

}  // namespace refrain::format
