// The profile of a window. Where profile() multiplies what stands in the grammar, this reads the
// calls and their times one by one.

#include <algorithm>

#include "analysis/profile/sums.h"
#include "analysis/window.h"
#include "format/places.h"
#include "format/trace_data.h"
#include "reader/internal.h"

namespace refrain::analysis {
namespace {

// Of the recorder's work the trace has large pieces one by one. The rest of it lies evenly in what
// is left of the time outside of MPI.
// `small`: that rest, by rank.
void put_outside(const Trace& trace, const std::vector<uint64_t>& small, const RankInWindow& mine,
                 RankRow& row) {
  const uint64_t left = mine.outside_ns - std::min(mine.outside_ns, mine.own_ns);
  row.recorder_in_run_ns = mine.own_ns;
  row.outside_ns = left;
  const auto rank = static_cast<size_t>(row.rank);
  if (rank >= reader::data_of(trace).totals.size()) return;
  const format::RankTotals& totals = reader::data_of(trace).totals[rank];
  const uint64_t rest = small[rank];
  const double all = static_cast<double>(totals.outside_ns) + static_cast<double>(rest);
  if (rest == 0 || !(all > 0)) return;
  const double share = std::min(1.0, static_cast<double>(left) / all);
  const auto ns = std::min(left, static_cast<uint64_t>(share * static_cast<double>(rest) + 0.5));
  row.recorder_in_run_ns += ns;
  row.outside_ns -= ns;
}

}  // namespace

Result<Profile> profile(const Trace& trace, const Window& window) {
  if (const Status good = check_window(trace, window); !good.ok()) return good.error();
  if (window.is_all()) return profile(trace);
  Profile out;
  out.window = window;
  ProfileSums sums(trace);
  events::GraphDegrees graphs(trace);
  bool is_everything = true;
  const std::vector<uint64_t> small = format::small_own_work(reader::data_of(trace));
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
    put_outside(trace, small, *mine, row);
    events::TransferReader transfers(reader, graphs);
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
