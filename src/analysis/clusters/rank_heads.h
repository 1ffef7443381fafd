// What every rank of a trace did, as the eleven numbers by which ranks are compared, and its
// structure: where clustering begins (ACURDION, section III A).
//
// Folds grammars, and expands none: the time follows the number of ranks and signatures, not that
// of calls. Only a trace that has times of single calls and no totals has its times read.
#pragma once

#include <cstdint>
#include <vector>

#include "format/clusters/cluster_sums.h"
#include "refrain/trace.h"
#include "similarity/ranks/k_farthest.h"

namespace refrain::analysis::clusters {

struct RankHeads {
  // By rank. One that the trace lacks has no calls, and the structure of having none.
  std::vector<similarity::RankHead> heads;
  // The same without regard to which calls of a rank are equal to each other: what lead endpoints
  // ask for.
  std::vector<uint64_t> sequence;
  std::vector<uint64_t> calls;
};

// Fails where times have to be read and cannot.
Result<RankHeads> rank_heads(const Trace& trace);

// What is told of one rank of the trace: its head, and what it adds up to. Nothing of a rank that
// the trace lacks but its number. Fails as rank_heads() does.
Result<format::ClusterMember> cluster_member(const Trace& trace, Rank rank);
// Of all ranks, by rank.
Result<std::vector<format::ClusterMember>> cluster_members(const Trace& trace);

// How many different ones there are.
size_t count_structures(const std::vector<similarity::RankHead>& heads);

}  // namespace refrain::analysis::clusters
