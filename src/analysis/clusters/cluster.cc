#include "analysis/clusters/cluster.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "analysis/clusters/cluster_error.h"
#include "analysis/clusters/lead_endpoints.h"
#include "analysis/clusters/methods.h"
#include "format/encode/encode.h"
#include "reader/internal.h"

namespace refrain::analysis::clusters {

namespace {

using similarity::RankHead;
using similarity::RankSignature;

// What is farthest away of each feature.
void widen(format::ClusterRadius& radius, const RankSignature& lead, const RankSignature& member) {
  const auto at = [&](similarity::RankFeature f) -> uint64_t& {
    return radius[static_cast<size_t>(f)];
  };
  const auto widen_to = [](uint64_t& r, uint64_t v) { r = std::max(r, v); };
  widen_to(at(similarity::RankFeature::kCallPath), lead.call_path != member.call_path ? 1 : 0);
  for (size_t m = 0; m < similarity::kRankMeans; ++m) {
    const int64_t a = lead.means[m], b = member.means[m];
    widen_to(at(similarity::mean_feature(m)),
             a < b ? static_cast<uint64_t>(b) - static_cast<uint64_t>(a)
                   : static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  }
  for (size_t level = 0; level < 4; ++level) {
    const auto a = static_cast<uint16_t>(lead.loop >> (16 * level)),
               b = static_cast<uint16_t>(member.loop >> (16 * level));
    widen_to(at(similarity::RankFeature::kLoop), static_cast<uint64_t>(a < b ? b - a : a - b));
  }
  uint64_t bits = 0;
  for (size_t w = 0; w < lead.types.size(); ++w)
    bits += static_cast<uint64_t>(__builtin_popcountll(lead.types[w] ^ member.types[w]));
  widen_to(at(similarity::RankFeature::kTypes), bits);
}

class Finder {
 public:
  Finder(const Trace& trace, const ClusterRequest& request, RankHeads heads)
      : trace_(trace), request_(request), heads_(std::move(heads)) {
    // The calls of a member are those of its lead: which of them are equal does not matter.
    if (request.has_lead_endpoints)
      for (size_t r = 0; r < heads_.heads.size(); ++r)
        heads_.heads[r].structure = heads_.sequence[r];
    loads_ = rank_loads_of(trace, heads_.heads);
    std::vector<RankSignature> signatures;
    for (const RankHead& h : heads_.heads) signatures.push_back(h.signature);
    const auto format = similarity::rank_format(signatures);
    features_ = format.differing().bits();
    distances_.emplace(format, request.is_euclidean ? similarity::RankMetric::kEuclidean
                                                    : similarity::RankMetric::kManhattan);
  }

  Result<FoundClusters> run() {
    FoundClusters out;
    out.structures = count_structures(heads_.heads);
    Result<format::ClusterData> data = base::fail("");
    switch (request_.choice) {
      case format::ClusterChoice::kNumber:
        data = data_of(request_.k);
        if (!request_.mixes_structures && request_.k < out.structures &&
            request_.method != format::ClusterMethod::kNone)
          out.raised_from = request_.k;
        break;
      case format::ClusterChoice::kKinds: data = data_of(out.structures); break;
      case format::ClusterChoice::kAuto: data = least(out); break;
    }
    if (!data.ok()) return data.error();
    out.data = std::move(*data);
    if (request_.choice == format::ClusterChoice::kAuto) check(out.data);
    count(out);
    return out;
  }

 private:
  Result<Clusters> clusters(uint64_t k) {
    const similarity::ClusterOptions options{static_cast<uint32_t>(k), request_.has_two_steps,
                                             request_.mixes_structures};
    const auto assignment =
        request_.is_by_tree ? similarity::Assignment::kTree : similarity::Assignment::kNearest;
    switch (request_.method) {
      case format::ClusterMethod::kReference:
        return reference_clusters(trace_, heads_.heads, options);
      case format::ClusterMethod::kTwoSignature:
        return two_signature_clusters(heads_.heads, options,
                                      request_.is_euclidean ? similarity::RankMetric::kEuclidean
                                                            : similarity::RankMetric::kManhattan,
                                      assignment);
      case format::ClusterMethod::kHierarchical:
        return hierarchical_clusters(heads_.heads, options, *distances_);
      case format::ClusterMethod::kNone: return no_clusters(heads_.heads);
      case format::ClusterMethod::kSignatures: break;
    }
    return similarity::cluster_ranks(heads_.heads, options, *distances_, assignment);
  }

  Result<format::ClusterData> data_of(uint64_t k) {
    auto found = clusters(k);
    if (!found.ok()) return found.error();
    format::ClusterData data;
    data.method = request_.method;
    data.choice = request_.choice;
    data.k = request_.choice == format::ClusterChoice::kNumber ? request_.k : 0;
    data.has_two_steps = request_.has_two_steps;
    data.is_euclidean = request_.is_euclidean;
    data.is_by_tree = request_.is_by_tree;
    data.has_lead_endpoints = request_.has_lead_endpoints;
    data.is_mixed = request_.mixes_structures;
    data.features = features_;
    data.metric = request_.metric;
    uint64_t mixed = 0;
    for (const similarity::RankCluster& c : *found) {
      data.clusters.push_back(cluster_of(c));
      mixed += data.clusters.back().others.size();
    }
    if (mixed > 0) {
      data.is_replayable = false;
      data.why_not = std::to_string(mixed) + (mixed == 1 ? " rank makes" : " ranks make") +
                     " other calls than the rank that stands for it (--mix)";
    }
    return data;
  }

  format::Cluster cluster_of(const similarity::RankCluster& c) const {
    format::Cluster out;
    out.lead = c.lead;
    const RankHead& lead = heads_.heads[c.lead];
    out.structure = lead.structure;
    for (const uint32_t m : c.members) {
      out.members.append(m);
      const RankHead& member = heads_.heads[m];
      if (member.structure != lead.structure) out.others.append(m);
      widen(out.radius, lead.signature, member.signature);
      const RankLoad& load = loads_[m];
      const auto add = [](uint64_t& to, uint64_t v) {
        if (__builtin_add_overflow(to, v, &to)) to = UINT64_MAX;
      };
      add(out.calls, load.calls);
      add(out.bytes, load.bytes);
      add(out.in_mpi_ns, load.in_mpi_ns);
      add(out.outside_ns, load.outside_ns);
    }
    return out;
  }

  // Doubles K until the error that radii predict is below the one asked for, then halves the way
  // back.
  Result<format::ClusterData> least(FoundClusters& out) {
    const auto ranks = static_cast<uint64_t>(heads_.heads.size());
    std::optional<format::ClusterData> best;
    const auto is_enough = [&](uint64_t k) -> Result<bool> {
      auto data = data_of(k);
      if (!data.ok()) return data.error();
      ++out.tried;
      data->error_predicted = predicted_error(*data, heads_.heads, loads_);
      const bool is_good = data->error_predicted < request_.error;
      if (is_good) best = std::move(*data);
      return is_good;
    };
    uint64_t low = std::max<uint64_t>(request_.mixes_structures ? 1 : out.structures, 1) - 1;
    uint64_t high = low + 1, step = 1;
    while (true) {
      const auto good = is_enough(high);
      if (!good.ok()) return good.error();
      if (*good || high >= ranks) break;
      low = high;
      step *= 2;
      high = std::min(ranks, high + step);
    }
    while (best && high - low > 1) {
      const uint64_t middle = low + (high - low) / 2;
      const auto good = is_enough(middle);
      if (!good.ok()) return good.error();
      (*good ? high : low) = middle;
    }
    // Every rank for itself, even where the tree would take equal ones together.
    return best ? std::move(*best) : data_of(ranks);
  }

  void check(format::ClusterData& data) {
    data.error_asked = request_.error;
    data.error_predicted = predicted_error(data, heads_.heads, loads_);
    const std::vector<uint32_t> sampled = sample(data, heads_.heads.size(), request_.seed);
    for (const uint32_t r : sampled) data.sampled.append(r);
    data.error_checked = checked_error(data, heads_.heads, loads_, sampled);
  }

  void count(FoundClusters& out) const {
    std::vector<bool> is_own(heads_.heads.size(), false);
    for (const format::Cluster& c : out.data.clusters) is_own[c.lead] = true;
    for (uint64_t i = 0; i < out.data.sampled.size(); ++i)
      is_own[static_cast<size_t>(out.data.sampled.at(i))] = true;
    for (size_t r = 0; r < is_own.size(); ++r) {
      if (is_own[r]) continue;
      ++out.stood_for;
      out.stood_for_calls += loads_[r].calls;
    }
  }

  const Trace& trace_;
  const ClusterRequest& request_;
  RankHeads heads_;
  std::vector<RankLoad> loads_;
  uint32_t features_ = 0;
  std::optional<similarity::RankDistances> distances_;
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
  auto heads = rank_heads(trace);
  if (!heads.ok()) return heads.error();
  return Finder(trace, request, std::move(*heads)).run();
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
  data.losses.push_back({std::string(format::kStoodForLoss), found.stood_for_calls, -1,
                         std::to_string(found.stood_for) + " of " +
                             std::to_string(data.meta.ranks) + " ranks by " +
                             std::to_string(found.data.clusters.size())});
  if (found.data.has_lead_endpoints) take_lead_endpoints(trace, data);
  return data;
}

Result<std::string> encode(const Trace& trace, const FoundClusters& found) {
  const auto data = clustered(trace, found);
  if (!data.ok()) return data.error();
  return format::encode(*data);
}

}  // namespace refrain::analysis::clusters
