// The profile of a window. Where profile() multiplies what stands in the grammar, this reads the
// calls and their times one by one.

#include "analysis/profile_sums.h"
#include "analysis/window.h"
#include "format/trace_data.h"

namespace refrain::analysis {

Result<Profile> profile(const Trace& trace, const Window& window) {
  if (const Status good = check_window(trace, window); !good.ok()) return good.error();
  if (window.is_all()) return profile(trace);
  Profile out;
  out.window = window;
  ProfileSums sums(trace);
  bool is_everything = true;
  for (Rank rank = 0; rank < trace.rank_count(); ++rank) {
    RankRow& row = out.ranks.emplace_back();
    row.rank = rank;
    if (!trace.group_of(rank)) continue;
    RankReader reader(trace, rank, Times::kRead);
    const auto mine = rank_in_window(reader, window);
    if (!mine.ok()) return mine.error();
    is_everything = is_everything && mine->is_everything;
    out.untimed += mine->untimed;
    row.in_mpi_ns = mine->in_mpi_ns;
    row.outside_ns = mine->outside_ns;
    TransferReader transfers(reader);
    for (const CallsInWindow& of : mine->calls) {
      const Signature& signature = reader.signature(of.signature);
      const CallId call = signature.call;
      const DefinitionId site = signature.site;
      CallTotals totals;
      totals.calls = of.begun;
      totals.failed = signature.failed() ? of.begun : 0;
      totals.parts = of.parts;
      totals.time_ns = static_cast<double>(of.ns);
      totals.min_ns = of.min_ns;
      totals.max_ns = of.max_ns;
      row.calls += of.begun;
      if (of.begun > 0 && has_transfers(call))
        count_transfers(transfers.transfers(of.signature), of.begun, totals, row, out);
      sums.add(call, site, totals);
    }
  }
  // The statistics of a trace are of times before they were put on the common clock.
  if (is_everything && out.untimed == 0) {
    Profile whole = profile(trace);
    whole.window = window;
    return whole;
  }
  sums.put(out);
  return out;
}

}  // namespace refrain::analysis
