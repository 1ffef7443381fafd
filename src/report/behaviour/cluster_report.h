// What `refrain cluster` prints.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/clusters/cluster.h"
#include "analysis/clusters/matching.h"
#include "refrain/trace.h"

namespace refrain::report {

struct ClusterView {
  const Trace& trace;  // the full one
  const analysis::clusters::FoundClusters& found;
  // As written: with lead endpoints it says more than `found` on whether it can be replayed.
  const format::ClusterData& data;
  const analysis::clusters::Matching& matching;
  std::string output;
  uint64_t bytes_before = 0, bytes_after = 0;  // of the files
};
std::string cluster_text(const ClusterView& view);
std::string cluster_json(const ClusterView& view);

// <0 5>, <2 0 4 4 2 1>: sets of ranks as ScalaTrace writes them, a space between them.
std::string rank_set_text(const base::RunList& ranks);

}  // namespace refrain::report
