// ClusterRequest: what the user says about clusters of ranks, with the same words for `refrain
// cluster`, which finds them in a trace, and for `refrain record`, which finds them at the end of
// the run.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "format/clusters/clusters.h"

namespace refrain::format {

struct ClusterRequest {
  ClusterMethod method = ClusterMethod::kSignatures;
  ClusterChoice choice = ClusterChoice::kNumber;
  uint64_t k = 9;       // ClusterChoice::kNumber only
  double error = 0.05;  // ClusterChoice::kAuto only
  ClusterMetric metric = ClusterMetric::kReplay;
  bool has_two_steps = false, is_euclidean = false, is_by_tree = false;
  bool has_lead_endpoints = false, mixes_structures = false;
  uint64_t seed = 1;  // which ranks are looked at by kAuto
};

// The values of the options, as the user wrote them.
struct ClusterWords {
  std::string k;  // a number, kinds, auto, auto:ERR; empty: nine
  std::string method = "signatures", distance = "manhattan", assign = "nearest";
  std::string endpoints = "exact", metric = "replay", steps = "1", seed = "1";
  bool mixes = false;
};

// A usage error names the option; `option_of_k` is that of ClusterWords::k. Whether there are so
// many ranks is not asked.
base::Result<ClusterRequest> cluster_request(const ClusterWords& words, const char* option_of_k);

// Different for different requests (but for chance), and never 0.
uint64_t hash_of(const ClusterRequest& request);

}  // namespace refrain::format
