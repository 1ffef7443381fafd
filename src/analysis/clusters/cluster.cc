#include "analysis/clusters/cluster.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "analysis/clusters/lead_endpoints.h"
#include "analysis/clusters/methods.h"
#include "format/clusters/cluster_sums.h"
#include "format/encode/encode.h"
#include "reader/internal.h"

namespace refrain::analysis::clusters {

namespace {

using format::ClusterMember;
using format::ClusterSum;
using similarity::RankHead;
using similarity::RankSignature;

class Finder {
 public:
  Finder(const Trace& trace, const ClusterRequest& request, std::vector<ClusterMember> members)
      : trace_(trace), request_(request), members_(std::move(members)) {
    std::vector<RankSignature> signatures;
    for (ClusterMember& m : members_) {
      // The calls of a member are those of its lead: which of them are equal does not matter.
      if (request.has_lead_endpoints) m.head.structure = m.sequence;
      heads_.push_back(m.head);
      signatures.push_back(m.head.signature);
    }
    const auto format = similarity::rank_format(signatures);
    features_ = format.differing().bits();
    distances_.emplace(format, request.is_euclidean ? similarity::RankMetric::kEuclidean
                                                    : similarity::RankMetric::kManhattan);
  }

  Result<FoundClusters> run() {
    FoundClusters out;
    out.structures = count_structures(heads_);
    Status found = base::Done{};
    switch (request_.choice) {
      case format::ClusterChoice::kNumber:
        found = take(request_.k);
        if (!request_.mixes_structures && request_.k < out.structures &&
            request_.method != format::ClusterMethod::kNone)
          out.raised_from = request_.k;
        break;
      case format::ClusterChoice::kKinds: found = take(out.structures); break;
      case format::ClusterChoice::kAuto: found = take_least(out); break;
    }
    if (!found.ok()) return found.error();
    out.data = format::cluster_data(request_, features_, sums_);
    std::vector<ClusterMember> sampled;
    if (request_.choice == format::ClusterChoice::kAuto) sampled = check(out.data);
    const format::StoodFor stood = format::stood_for(sums_, sampled);
    out.stood_for = stood.ranks;
    out.stood_for_calls = stood.calls;
    return out;
  }

 private:
  Result<Clusters> clusters(uint64_t k) {
    const similarity::ClusterOptions options{static_cast<uint32_t>(k), request_.has_two_steps,
                                             request_.mixes_structures};
    const auto assignment =
        request_.is_by_tree ? similarity::Assignment::kTree : similarity::Assignment::kNearest;
    switch (request_.method) {
      case format::ClusterMethod::kReference: return reference_clusters(trace_, heads_, options);
      case format::ClusterMethod::kTwoSignature:
        return two_signature_clusters(heads_, options,
                                      request_.is_euclidean ? similarity::RankMetric::kEuclidean
                                                            : similarity::RankMetric::kManhattan,
                                      assignment);
      case format::ClusterMethod::kHierarchical:
        return hierarchical_clusters(heads_, options, *distances_);
      case format::ClusterMethod::kNone: return no_clusters(heads_);
      case format::ClusterMethod::kSignatures: break;
    }
    return similarity::cluster_ranks(heads_, options, *distances_, assignment);
  }

  Status take(uint64_t k) {
    const auto found = clusters(k);
    if (!found.ok()) return found.error();
    sums_.clear();
    for (const similarity::RankCluster& c : *found) {
      sums_.push_back(format::cluster_of(heads_[c.lead]));
      for (const uint32_t m : c.members)
        format::add_member(sums_.back(), heads_[c.lead], members_[m]);
    }
    return base::Done{};
  }

  Status take_least(FoundClusters& out) {
    const auto least = format::least_clusters(
        std::max<uint64_t>(request_.mixes_structures ? 1 : out.structures, 1), heads_.size(),
        [&](uint64_t k) -> Result<bool> {
          if (const Status taken = take(k); !taken.ok()) return taken.error();
          ++out.tried;
          return format::predicted_error(request_.metric, sums_) < request_.error;
        });
    return least.ok() ? take(*least) : least.error();
  }

  std::vector<ClusterMember> check(format::ClusterData& data) const {
    std::vector<RankHead> leads;
    for (const ClusterSum& s : sums_) leads.push_back(heads_[s.cluster.lead]);
    std::vector<ClusterMember> sampled;
    for (const uint32_t r : format::sampled_ranks(leads, heads_.size(), request_.seed)) {
      data.sampled.append(r);
      sampled.push_back(members_[r]);
    }
    data.error_asked = request_.error;
    data.error_predicted = format::predicted_error(request_.metric, sums_);
    data.error_checked = format::checked_error(request_.metric, sums_, leads, sampled);
    return sampled;
  }

  const Trace& trace_;
  const ClusterRequest& request_;
  std::vector<ClusterMember> members_;  // by rank
  std::vector<RankHead> heads_;         // theirs
  uint32_t features_ = 0;
  std::optional<similarity::RankDistances> distances_;
  std::vector<ClusterSum> sums_;  // of the clusters that were found last
};

// Blocks of times of the ranks that keep theirs.
Result<format::TimeData> times_of_leads(const Trace& trace, const std::vector<uint32_t>& of) {
  auto parts = reader::time_parts_of(trace);
  if (!parts.ok()) return parts.error();
  format::TimeData out;
  out.index = std::move(parts->index);
  std::vector<format::TimeChunk> chunks = std::exchange(out.index.chunks, {});
  uint64_t at = 0;
  for (format::TimeChunk& chunk : chunks) {
    uint64_t bytes = 0;
    for (const format::TimeBlock& block : chunk.blocks) bytes += block.bytes;
    if (chunk.rank < of.size() && of[chunk.rank] == chunk.rank) {
      const auto read = parts->read(at, bytes);
      if (!read.ok()) return base::fail(read.error().message, trace.name());
      out.bytes += *read;
      out.index.chunks.push_back(std::move(chunk));
    }
    at += bytes;
  }
  const auto representatives = parts->read(at, out.index.segments.bytes);
  if (!representatives.ok()) return base::fail(representatives.error().message, trace.name());
  out.bytes += *representatives;
  return out;
}

}  // namespace

Result<FoundClusters> find(const Trace& trace, const ClusterRequest& request) {
  if (trace.clustering())
    return base::usage("ranks stand for others already; take the trace that it was made from",
                       trace.name());
  const auto ranks = static_cast<uint64_t>(trace.rank_count());
  const bool has_number = request.choice == format::ClusterChoice::kNumber &&
                          request.method != format::ClusterMethod::kNone;
  if (has_number && (request.k == 0 || request.k > ranks))
    return base::usage("K is " + std::to_string(request.k) + ", and has to be between 1 and the " +
                           std::to_string(ranks) + " ranks",
                       trace.name());
  auto members = cluster_members(trace);
  if (!members.ok()) return members.error();
  return Finder(trace, request, std::move(*members)).run();
}

Result<format::TraceData> clustered(const Trace& trace, const FoundClusters& found) {
  format::TraceData data = reader::data_of(trace);
  data.clusters = found.data;
  const std::vector<uint32_t> times_of = format::time_ranks(found.data, data.meta.ranks);
  if (trace.has_times()) {
    auto times = times_of_leads(trace, times_of);
    if (!times.ok()) return times.error();
    data.times = std::move(*times);
  }
  data.losses.push_back(format::stood_for_loss({found.stood_for, found.stood_for_calls},
                                               found.data.clusters.size(), data.meta.ranks));
  if (found.data.has_lead_endpoints) take_lead_endpoints(trace, data);
  return data;
}

Result<format::TraceData> with_lead_calls(const Trace& trace) {
  format::TraceData data = reader::data_of(trace);
  data.clusters.has_lead_endpoints = true;
  if (trace.has_times()) {
    std::vector<uint32_t> all(data.meta.ranks);
    std::iota(all.begin(), all.end(), 0u);
    auto times = times_of_leads(trace, all);
    if (!times.ok()) return times.error();
    data.times = std::move(*times);
  }
  format::TraceData full = reader::data_of(trace);
  full.clusters = {};
  std::erase_if(full.losses, [](const format::LossRecord& loss) {
    return loss.reason == format::kStoodForLoss;
  });
  const auto before = reader::trace_of(std::move(full), trace.name(), 0);
  if (!before.ok()) return before.error();
  take_lead_endpoints(*before, data);
  return data;
}

Result<std::string> encode(const Trace& trace, const FoundClusters& found) {
  const auto data = clustered(trace, found);
  if (!data.ok()) return data.error();
  return format::encode(*data);
}

}  // namespace refrain::analysis::clusters
