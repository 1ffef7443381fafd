// A trace -> clusters of its ranks, and the trace in which a few of them stand for all (ACURDION).
//
//   auto found = clusters::find(trace, {.k = 9});
//   auto bytes = clusters::encode(trace, *found);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/clusters/rank_heads.h"
#include "format/clusters.h"
#include "format/trace_data.h"
#include "refrain/trace.h"

namespace refrain::analysis::clusters {

struct ClusterRequest {
  format::ClusterMethod method = format::ClusterMethod::kSignatures;
  format::ClusterChoice choice = format::ClusterChoice::kNumber;
  uint64_t k = 9;       // ClusterChoice::kNumber only
  double error = 0.05;  // ClusterChoice::kAuto only
  format::ClusterMetric metric = format::ClusterMetric::kReplay;
  bool has_two_steps = false, is_euclidean = false, is_by_tree = false;
  bool has_lead_endpoints = false, mixes_structures = false;
  uint64_t seed = 1;  // which ranks are looked at by kAuto
};

struct FoundClusters {
  format::ClusterData data;
  uint64_t structures = 0;   // of the ranks
  uint64_t raised_from = 0;  // K that was asked for and is less than the structures; 0: it was not
  uint64_t stood_for = 0;    // ranks that another one stands for
  uint64_t stood_for_calls = 0;
  uint64_t tried = 0;  // by kAuto: numbers of clusters
};

// Fails, with a usage error, where the trace has clusters already or K is not between 1 and the
// ranks, and as rank_heads() does.
Result<FoundClusters> find(const Trace& trace, const ClusterRequest& request);

// The trace with those clusters: times of single calls are those of leads and sampled ranks alone.
// With lead endpoints members have the calls of their leads (lead_endpoints.h). Fails where times
// cannot be read.
Result<format::TraceData> clustered(const Trace& trace, const FoundClusters& found);
// The same as a file's bytes. Fails as format::encode() does, too.
Result<std::string> encode(const Trace& trace, const FoundClusters& found);

}  // namespace refrain::analysis::clusters
