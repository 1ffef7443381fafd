// A trace -> clusters of its ranks, and the trace in which a few of them stand for all (ACURDION).
//
//   auto found = clusters::find(trace, {.k = 9});
//   auto bytes = clusters::encode(trace, *found);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/clusters/rank_heads.h"
#include "format/clusters/cluster_request.h"
#include "format/clusters/clusters.h"
#include "format/trace_data.h"
#include "refrain/trace.h"

namespace refrain::analysis::clusters {

using format::ClusterRequest;

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
// `trace` has clusters by lead endpoints, and its members still have their own calls: as the
// recorder writes it first. What it is to be. Fails where times cannot be read.
Result<format::TraceData> with_lead_calls(const Trace& trace);
// The same as clustered(), as a file's bytes. Fails as format::encode() does, too.
Result<std::string> encode(const Trace& trace, const FoundClusters& found);

}  // namespace refrain::analysis::clusters
