#include "analysis/profile.h"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/payload.h"
#include "format/trace_data.h"

namespace refrain::analysis {
namespace {

// Calls of one signature at one place, over all ranks; durations are shared out at the end.
struct Cell {
  uint64_t calls = 0, failed = 0, bytes = 0, messages = 0, unsized = 0;
};

// Builds a Profile group by group, rank by rank.
class Folder {
 public:
  explicit Folder(const Trace& trace) : trace_(trace), calls_(trace.signature_count(), 0) {}

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
      const mpi::CallInfo* info = mpi::find_call(trace_.call_of(seen.signature));
      const Signature& call = first.signature(seen.signature);
      const auto& slots = trace_.data().signatures[seen.signature].slots;
      Shared shared;
      shared.seen = seen;
      shared.site = call.site;
      shared.failed = call.failed();
      shared.has_transfers = info != nullptr && info->traffic != mpi::Traffic::kNothing &&
                             info->traffic != mpi::Traffic::kRecv && !info->persistent;
      shared.site_varies = !slots.empty() && call.site != kNoDefinition &&
                           slots[0].kind != format::Expr::Kind::kConst;
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
      calls_of_rank = add(calls_of_rank, s.seen.calls);
      needs_each_rank = needs_each_rank || s.has_transfers || s.site_varies;
      const uint64_t calls = multiply(s.seen.calls, ranks);
      calls_[s.seen.signature] = add(calls_[s.seen.signature], calls);
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
    cell.calls = add(cell.calls, calls);
    if (failed) cell.failed = add(cell.failed, calls);
  }

  void fold_rank(RankReader& reader, const std::vector<Shared>& signatures) {
    TransferReader transfers(reader);
    RankRow& row = out_.ranks[static_cast<size_t>(reader.rank())];
    for (const Shared& s : signatures) {
      const DefinitionId site = s.site_varies ? reader.signature(s.seen.signature).site : s.site;
      if (s.site_varies) count(cells_[{s.seen.signature, site}], s.seen.calls, s.failed);
      if (!s.has_transfers) continue;
      Cell& cell = cells_[{s.seen.signature, site}];
      for (const Transfer& t : transfers.transfers(s.seen.signature)) {
        const uint64_t times = multiply(t.repeat, s.seen.calls);
        const uint64_t bytes = multiply(t.bytes, times);
        cell.bytes = add(cell.bytes, bytes);
        row.bytes = add(row.bytes, bytes);
        if (!t.is_sized) cell.unsized = add(cell.unsized, times);
        if (t.kind == TransferKind::kP2p || t.kind == TransferKind::kRma)
          cell.messages = add(cell.messages, times);
        if (!t.is_sized) continue;
        SizeBucket& bucket =
            out_.sizes[static_cast<size_t>(t.kind)][static_cast<size_t>(std::bit_width(t.bytes))];
        bucket.transfers = add(bucket.transfers, times);
        bucket.bytes = add(bucket.bytes, bytes);
      }
    }
  }

  void add_rank_totals() {
    const auto& totals = trace_.data().totals;
    for (size_t r = 0; r < out_.ranks.size() && r < totals.size(); ++r) {
      out_.ranks[r].in_mpi_ns = totals[r].in_mpi_ns;
      out_.ranks[r].outside_ns = totals[r].outside_ns;
      out_.ranks[r].recorder_in_run_ns = totals[r].own_ns;
      out_.ranks[r].involuntary_switches = totals[r].switches;
      out_.ranks[r].recorder_ns = totals[r].cost.time_ns;
      out_.ranks[r].recorder_memory_bytes = totals[r].cost.memory_bytes;
      out_.run_ns +=
          static_cast<double>(totals[r].in_mpi_ns) + static_cast<double>(totals[r].outside_ns);
    }
    out_.calls = spread([](const RankRow& r) { return r.calls; });
    out_.in_mpi_ns = spread([](const RankRow& r) { return r.in_mpi_ns; });
    out_.outside_ns = spread([](const RankRow& r) { return r.outside_ns; });
  }

  template <class Get>
  Spread spread(Get get) const {
    Spread s;
    bool is_first = true;
    for (const RankRow& row : out_.ranks) {
      const auto v = static_cast<double>(get(row));
      s.min = is_first ? v : std::min(s.min, v);
      s.max = is_first ? v : std::max(s.max, v);
      s.mean += v / static_cast<double>(out_.ranks.size());
      is_first = false;
    }
    return s;
  }

  static void merge(CallTotals& into, const CallTotals& from) {
    if (from.calls > 0) {
      into.min_ns = into.calls == 0 ? from.min_ns : std::min(into.min_ns, from.min_ns);
      into.max_ns = std::max(into.max_ns, from.max_ns);
    }
    into.calls = add(into.calls, from.calls);
    into.failed = add(into.failed, from.failed);
    into.time_ns += from.time_ns;
    into.bytes = add(into.bytes, from.bytes);
    into.messages = add(into.messages, from.messages);
    into.unsized = add(into.unsized, from.unsized);
  }

  void sum_up() {
    std::map<CallId, CallTotals> functions;
    std::map<std::pair<DefinitionId, CallId>, CallTotals> sites, paths;
    std::map<mpi::CallGroup, CallTotals> groups;
    for (const auto& [key, cell] : cells_) {
      const auto [signature, path] = key;
      const DefinitionId site = trace_.call_site(path);
      const CallId call = trace_.call_of(signature);
      const Durations durations = trace_.durations(signature);
      CallTotals totals;
      totals.calls = cell.calls;
      totals.failed = cell.failed;
      totals.bytes = cell.bytes;
      totals.messages = cell.messages;
      totals.unsized = cell.unsized;
      totals.min_ns = durations.min_ns;
      totals.max_ns = durations.max_ns;
      // Durations are per signature: places that share one share its time by their calls.
      if (calls_[signature] > 0)
        totals.time_ns = durations.sum_ns * static_cast<double>(cell.calls) /
                         static_cast<double>(calls_[signature]);
      const mpi::CallInfo* info = mpi::find_call(call);
      merge(functions[call], totals);
      merge(sites[{site, call}], totals);
      merge(paths[{path, call}], totals);
      merge(groups[info == nullptr ? mpi::CallGroup::kMisc : info->group], totals);
      merge(out_.all, totals);
    }
    for (const auto& [call, totals] : functions) out_.functions.push_back({call, totals});
    for (const auto& [key, totals] : sites) out_.sites.push_back({key.first, key.second, totals});
    for (const auto& [key, totals] : paths) out_.paths.push_back({key.first, key.second, totals});
    for (const auto& [group, totals] : groups) out_.groups.push_back({group, totals});
    const auto by_time = [](const auto& a, const auto& b) {
      return std::tuple(-a.totals.time_ns, ~a.totals.calls) <
             std::tuple(-b.totals.time_ns, ~b.totals.calls);
    };
    std::stable_sort(out_.functions.begin(), out_.functions.end(), by_time);
    std::stable_sort(out_.sites.begin(), out_.sites.end(), by_time);
    std::stable_sort(out_.paths.begin(), out_.paths.end(), by_time);
    std::stable_sort(out_.groups.begin(), out_.groups.end(), by_time);
  }

  const Trace& trace_;
  std::vector<uint64_t> calls_;  // of all ranks, by signature
  std::map<std::pair<SignatureId, DefinitionId>, Cell> cells_;
  Profile out_;
};

}  // namespace

Profile profile(const Trace& trace) { return Folder(trace).run(); }

}  // namespace refrain::analysis
