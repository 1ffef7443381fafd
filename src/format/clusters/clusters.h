// Clusters: ranks for which one of them, their lead, stands. What a trace says of them, apart from
// what the leads did. docs/format.md, Clusters; the words are those of ACURDION, section III.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/runs.h"
#include "similarity/ranks/rank_signature.h"

namespace refrain::format {

enum class ClusterMethod : uint8_t {
  kSignatures = 0,    // eleven numbers for each rank
  kReference = 1,     // the calls with all parameters, one by one
  kTwoSignature = 2,  // call path, and four parameters with 16 bits each
  kHierarchical = 3,  // eleven numbers, and the nearest two are united until K are left
  kNone = 4,          // every rank stands for itself
};
inline constexpr uint8_t kClusterMethods = 5;
std::string_view to_string(ClusterMethod method);

// Who said how many clusters there are.
enum class ClusterChoice : uint8_t { kNumber = 0, kKinds = 1, kAuto = 2 };
inline constexpr uint8_t kClusterChoices = 3;

// What `auto` bounds the error of.
enum class ClusterMetric : uint8_t { kReplay = 0, kProfile = 1, kWaits = 2 };
inline constexpr uint8_t kClusterMetrics = 3;
std::string_view to_string(ClusterMetric metric);

// By RankFeature: the most that a member's is away from its lead's. Of means and of repetitions of
// loops the difference, of types how many bits, of the call path 0 or 1.
using ClusterRadius = std::array<uint64_t, similarity::kRankFeatures>;

struct Cluster {
  uint64_t lead = 0;
  base::RunList members;  // world ranks, ascending, the lead among them
  // Those of `members` that made another sequence of calls than the lead. With exact endpoints they
  // have no times of single calls.
  base::RunList others;
  uint64_t structure = 0;  // of the lead: equal for equal sequences of calls
  // Sums over the members, as they were before one stood for all.
  uint64_t calls = 0;
  uint64_t bytes = 0;  // handed to MPI
  uint64_t in_mpi_ns = 0, outside_ns = 0;
  ClusterRadius radius{};
};

struct ClusterData {
  ClusterMethod method = ClusterMethod::kSignatures;
  ClusterChoice choice = ClusterChoice::kNumber;
  uint64_t k = 0;  // asked for; 0: not by number
  bool has_two_steps = false, is_euclidean = false, is_by_tree = false;
  // The calls of a member are those of its lead, with ends relative to it; else its own.
  bool has_lead_endpoints = false;
  bool is_mixed = false;  // ranks of different structure may be one cluster
  bool is_replayable = true;
  std::string why_not;    // it is not; else empty
  uint32_t features = 0;  // a bit for each RankFeature in which ranks differ
  // ClusterChoice::kAuto only: relative errors.
  ClusterMetric metric = ClusterMetric::kReplay;
  double error_asked = 0, error_predicted = 0, error_checked = 0;
  base::RunList sampled;          // ranks that have their own times although they are no leads
  std::vector<Cluster> clusters;  // in the order of their leads; empty: the trace has none

  bool empty() const { return clusters.empty(); }
};

// The loss of a trace with clusters. Where each rank is the lead of its own cluster it has no
// calls, and nothing is lost.
inline constexpr std::string_view kStoodForLoss = "stood_for";
constexpr bool stands_for_nobody(std::string_view loss, uint64_t calls) {
  return loss == kStoodForLoss && calls == 0;
}

// For each of `ranks` whose times of single calls it has: its own number where it is a lead or was
// sampled, else its lead's; kNoTimes where it has none. Empty when there are no clusters. Members
// beyond `ranks` are left out.
inline constexpr uint32_t kNoTimes = UINT32_MAX;
std::vector<uint32_t> time_ranks(const ClusterData& data, uint64_t ranks);

// What contradicts itself, in a few words; empty for good ones.
std::string problem_of(const ClusterData& data, uint64_t ranks);

}  // namespace refrain::format
