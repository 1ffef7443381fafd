#include "analysis/profile/sums.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "events/payload.h"

namespace refrain::analysis {
namespace {

void merge(CallTotals& into, const CallTotals& from) {
  if (from.calls > 0 || from.parts > 0) {
    const bool is_first = into.calls == 0 && into.parts == 0;
    into.min_ns = is_first ? from.min_ns : std::min(into.min_ns, from.min_ns);
    into.max_ns = std::max(into.max_ns, from.max_ns);
  }
  into.calls = events::add(into.calls, from.calls);
  into.failed = events::add(into.failed, from.failed);
  into.parts = events::add(into.parts, from.parts);
  into.time_ns += from.time_ns;
  into.bytes = events::add(into.bytes, from.bytes);
  into.messages = events::add(into.messages, from.messages);
  into.unsized = events::add(into.unsized, from.unsized);
}

template <class Get>
Spread spread(const std::vector<RankRow>& ranks, Get get) {
  Spread s;
  bool is_first = true;
  for (const RankRow& row : ranks) {
    const auto v = static_cast<double>(get(row));
    s.min = is_first ? v : std::min(s.min, v);
    s.max = is_first ? v : std::max(s.max, v);
    s.mean += v / static_cast<double>(ranks.size());
    is_first = false;
  }
  return s;
}

}  // namespace

void ProfileSums::add(CallId call, DefinitionId path, const CallTotals& totals) {
  const mpi::CallInfo* info = mpi::find_call(call);
  merge(functions_[call], totals);
  merge(sites_[{trace_.call_site(path), call}], totals);
  merge(paths_[{path, call}], totals);
  merge(groups_[info == nullptr ? mpi::CallGroup::kMisc : info->group], totals);
  merge(all_, totals);
}

void ProfileSums::put(Profile& out) const {
  for (const auto& [call, totals] : functions_) out.functions.push_back({call, totals});
  for (const auto& [key, totals] : sites_) out.sites.push_back({key.first, key.second, totals});
  for (const auto& [key, totals] : paths_) out.paths.push_back({key.first, key.second, totals});
  for (const auto& [group, totals] : groups_) out.groups.push_back({group, totals});
  out.all = all_;
  const auto by_time = [](const auto& a, const auto& b) {
    return std::tuple(-a.totals.time_ns, ~a.totals.calls) <
           std::tuple(-b.totals.time_ns, ~b.totals.calls);
  };
  std::stable_sort(out.functions.begin(), out.functions.end(), by_time);
  std::stable_sort(out.sites.begin(), out.sites.end(), by_time);
  std::stable_sort(out.paths.begin(), out.paths.end(), by_time);
  std::stable_sort(out.groups.begin(), out.groups.end(), by_time);
  for (const RankRow& row : out.ranks)
    out.run_ns += static_cast<double>(row.in_mpi_ns) + static_cast<double>(row.outside_ns);
  out.calls = spread(out.ranks, [](const RankRow& r) { return r.calls; });
  out.in_mpi_ns = spread(out.ranks, [](const RankRow& r) { return r.in_mpi_ns; });
  out.outside_ns = spread(out.ranks, [](const RankRow& r) { return r.outside_ns; });
}

bool has_transfers(CallId call) {
  const mpi::CallInfo* info = mpi::find_call(call);
  return info != nullptr && info->traffic != mpi::Traffic::kNothing &&
         info->traffic != mpi::Traffic::kRecv && !info->persistent;
}

void count_transfers(const std::vector<events::Transfer>& transfers, uint64_t calls,
                     CallTotals& totals, RankRow& rank, Profile& out) {
  for (const events::Transfer& t : transfers) {
    const uint64_t times = events::multiply(t.repeat, calls);
    const uint64_t bytes = events::multiply(t.bytes, times);
    totals.bytes = events::add(totals.bytes, bytes);
    rank.bytes = events::add(rank.bytes, bytes);
    if (!t.is_sized) totals.unsized = events::add(totals.unsized, times);
    if (t.kind == events::TransferKind::kP2p || t.kind == events::TransferKind::kRma)
      totals.messages = events::add(totals.messages, times);
    if (!t.is_sized) continue;
    SizeBucket& bucket =
        out.sizes[static_cast<size_t>(t.kind)][static_cast<size_t>(std::bit_width(t.bytes))];
    bucket.transfers = events::add(bucket.transfers, times);
    bucket.bytes = events::add(bucket.bytes, bytes);
  }
}

}  // namespace refrain::analysis
