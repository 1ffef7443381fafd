// Views of the ranks that stand for others, for the public API.

#include <utility>

#include "reader/trace_impl.h"
#include "refrain/trace.h"

namespace refrain {

std::optional<Clustering> Trace::clustering() const {
  const format::ClusterData& data = impl_->data.clusters;
  if (data.empty()) return std::nullopt;
  Clustering out;
  out.method = format::to_string(data.method);
  out.has_lead_endpoints = data.has_lead_endpoints;
  out.is_replayable = data.is_replayable;
  out.why_not = data.why_not;
  for (const format::Cluster& c : data.clusters) {
    Cluster one;
    one.lead = static_cast<Rank>(c.lead);
    one.members.runs_ = &c.members;
    one.calls = c.calls;
    one.bytes = c.bytes;
    one.in_mpi_ns = c.in_mpi_ns;
    one.outside_ns = c.outside_ns;
    out.list.push_back(std::move(one));
  }
  return out;
}

Rank Trace::lead_of(Rank rank) const {
  const auto& leads = impl_->lead_of_rank;
  if (rank < 0 || static_cast<uint64_t>(rank) >= leads.size()) return rank;
  return static_cast<Rank>(leads[static_cast<size_t>(rank)]);
}

Rank Trace::times_rank(Rank rank) const {
  const auto& ranks = impl_->time_rank;
  if (rank < 0 || static_cast<uint64_t>(rank) >= ranks.size()) return rank;
  const uint32_t of = ranks[static_cast<size_t>(rank)];
  return of == format::kNoTimes ? -1 : static_cast<Rank>(of);
}

}  // namespace refrain
