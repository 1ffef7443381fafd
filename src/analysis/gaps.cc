#include "analysis/gaps.h"

#include <algorithm>

#include "refrain/calls.h"

namespace refrain::analysis {

std::vector<GapRow> gaps(const Trace& trace) {
  std::vector<GapRow> rows;
  if (!trace.has_gaps()) return rows;
  std::vector<bool> is_known(trace.signature_count(), false);
  for (GroupId g = 0; g < trace.group_count(); ++g) {
    if (trace.group_size(g) == 0) continue;
    RankReader first(trace, trace.group_rank(g, 0));
    for (const Trace::Occurrence& seen : trace.occurrences(g)) {
      if (seen.calls == 0 || is_known[seen.signature]) continue;
      is_known[seen.signature] = true;
      rows.push_back({seen.signature, trace.call_of(seen.signature),
                      first.signature(seen.signature).site, trace.gaps(seen.signature),
                      trace.gap_histogram(seen.signature)});
    }
  }
  std::sort(rows.begin(), rows.end(), [](const GapRow& a, const GapRow& b) {
    if (a.gaps.sum_ns != b.gaps.sum_ns) return a.gaps.sum_ns > b.gaps.sum_ns;
    return a.signature < b.signature;
  });
  return rows;
}

}  // namespace refrain::analysis
