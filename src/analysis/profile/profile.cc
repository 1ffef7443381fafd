#include "analysis/profile/profile.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/profile/sums.h"
#include "events/payload.h"
#include "format/trace_data.h"
#include "mpi/call_ids.h"
#include "reader/internal.h"

namespace refrain::analysis {
namespace {

// Calls of one signature at one place, over all ranks; durations are shared out at the end.
using Cell = CallTotals;

// Builds a Profile group by group, rank by rank.
class Folder {
 public:
  explicit Folder(const Trace& trace)
      : trace_(trace), graphs_(trace), calls_(trace.signature_count(), 0) {}

  Profile run() {
    out_.ranks.resize(static_cast<size_t>(trace_.rank_count()));
    for (size_t r = 0; r < out_.ranks.size(); ++r) out_.ranks[r].rank = static_cast<Rank>(r);
    for (GroupId g = 0; g < trace_.group_count(); ++g) fold_group(g);
    add_rank_totals();
    sum_up();
    return std::move(out_);
  }

 private:
  // What a signature is the same for all ranks of a group: decoded once.
  struct Shared {
    Trace::Occurrence seen;
    DefinitionId site = kNoDefinition;
    bool has_transfers = false;
    bool site_varies = false;  // a table of sites: equal calls from different places
    bool failed = false;
  };

  std::vector<Shared> shared_of(GroupId group) const {
    std::vector<Shared> out;
    RankReader first(trace_, trace_.group_rank(group, 0));  // gone before other ranks are decoded
    for (const Trace::Occurrence& seen : trace_.occurrences(group)) {
      if (seen.calls == 0) continue;
      const Signature call = first.signature_once(seen.signature);
      const auto& slots = reader::data_of(trace_).signatures[seen.signature].slots;
      Shared shared;
      shared.seen = seen;
      shared.site = call.site;
      shared.failed = call.failed();
      shared.has_transfers = has_transfers(trace_.call_of(seen.signature));
      shared.site_varies = !slots.empty() && call.site != kNoDefinition &&
                           slots[0].kind != format::RankExpr::Kind::kConst;
      out.push_back(shared);
    }
    return out;
  }

  void fold_group(GroupId group) {
    const uint64_t ranks = trace_.group_size(group);
    if (ranks == 0) return;
    const std::vector<Shared> signatures = shared_of(group);
    uint64_t calls_of_rank = 0;
    bool needs_each_rank = false;
    for (const Shared& s : signatures) {
      calls_of_rank = events::add(calls_of_rank, s.seen.calls);
      needs_each_rank = needs_each_rank || s.has_transfers || s.site_varies;
      const uint64_t calls = events::multiply(s.seen.calls, ranks);
      calls_[s.seen.signature] = events::add(calls_[s.seen.signature], calls);
      if (!s.site_varies) count(cells_[{s.seen.signature, s.site}], calls, s.failed);
    }
    for (uint64_t i = 0; i < ranks; ++i) {
      const Rank rank = trace_.group_rank(group, i);
      out_.ranks[static_cast<size_t>(rank)].calls = calls_of_rank;
      if (!needs_each_rank) continue;
      RankReader reader(trace_, rank);
      fold_rank(reader, signatures);
    }
  }

  static void count(Cell& cell, uint64_t calls, bool failed) {
    cell.calls = events::add(cell.calls, calls);
    if (failed) cell.failed = events::add(cell.failed, calls);
  }

  void fold_rank(RankReader& reader, const std::vector<Shared>& signatures) {
    events::TransferReader transfers(reader, graphs_);
    RankRow& row = out_.ranks[static_cast<size_t>(reader.rank())];
    for (const Shared& s : signatures) {
      const DefinitionId site = s.site_varies ? reader.signature(s.seen.signature).site : s.site;
      if (s.site_varies) count(cells_[{s.seen.signature, site}], s.seen.calls, s.failed);
      if (!s.has_transfers) continue;
      count_transfers(transfers.transfers(s.seen.signature), s.seen.calls,
                      cells_[{s.seen.signature, site}], row, out_);
    }
  }

  void add_rank_totals() {
    const auto& totals = reader::data_of(trace_).totals;
    for (size_t r = 0; r < out_.ranks.size() && r < totals.size(); ++r) {
      out_.ranks[r].in_mpi_ns = totals[r].in_mpi_ns;
      out_.ranks[r].outside_ns = totals[r].outside_ns;
      out_.ranks[r].recorder_in_run_ns = totals[r].own_ns;
      out_.ranks[r].involuntary_switches = totals[r].switches;
      out_.ranks[r].recorder_ns = totals[r].cost.time_ns;
      out_.ranks[r].recorder_memory_bytes = totals[r].cost.memory_bytes;
    }
  }

  void sum_up() {
    ProfileSums sums(trace_);
    for (const auto& [key, cell] : cells_) {
      const auto [signature, path] = key;
      const Durations durations = trace_.durations(signature);
      CallTotals totals = cell;
      totals.min_ns = durations.min_ns;
      totals.max_ns = durations.max_ns;
      // Durations are per signature: places that share one share its time by their calls.
      if (calls_[signature] > 0)
        totals.time_ns = durations.sum_ns * static_cast<double>(cell.calls) /
                         static_cast<double>(calls_[signature]);
      sums.add(trace_.call_of(signature), path, totals);
    }
    sums.put(out_);
  }

  const Trace& trace_;
  events::GraphDegrees graphs_;
  std::vector<uint64_t> calls_;  // of all ranks, by signature
  std::map<std::pair<SignatureId, DefinitionId>, Cell> cells_;
  Profile out_;
};

}  // namespace

Profile profile(const Trace& trace) { return Folder(trace).run(); }

double time_between_ns(const Trace& trace) {
  const auto whole = static_cast<double>(trace.info().duration_ns);
  double start = 0, end = 0;
  for (const FunctionRow& row : profile(trace).functions) {
    if (row.call == mpi::kMPI_Init || row.call == mpi::kMPI_Init_thread)
      start = std::max(start, static_cast<double>(row.totals.max_ns));
    if (row.call == mpi::kMPI_Finalize) end = static_cast<double>(row.totals.min_ns);
  }
  const double between = whole - start - end;
  return between > 0 ? between : whole;
}

}  // namespace refrain::analysis
