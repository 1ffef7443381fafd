// The ranks that stand for all others: at most K, as far from each other as there are.
//
// Chosen along a tree over all ranks (ACURDION, section III B, algorithm 2): a node has its own
// rank and the heads of its two children, at most 2K + 1, and passes on K of them; so a node needs
// memory for K heads, whatever the number of ranks. Children of r are 2r + 1 and 2r + 2.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "similarity/ranks/rank_distance.h"

namespace refrain::similarity {

// A rank that may stand for others.
struct RankHead {
  uint32_t rank = 0;
  // Ranks of different structure make other sequences of calls: one that stood for the other would
  // wait for messages that nobody sends when the trace is replayed.
  uint64_t structure = 0;
  RankSignature signature;
  bool operator==(const RankHead&) const = default;
};

struct ClusterOptions {
  uint32_t k = 9;  // at least 1
  // First by call path alone, and within that by all else (section III B): K is shared out to
  // whatever is farthest within its call path.
  bool is_double_step = false;
  // Ranks of different structure may be one cluster. Otherwise k is raised to the number of
  // structures where that is more.
  bool mixes_structures = false;
};

// Of heads in the order of their ranks.
struct HeadSelection {
  std::vector<uint32_t> chosen;   // ascending indices of heads
  std::vector<uint32_t> nearest;  // by head: which of `chosen` stands for it; a chosen one itself
};
// All are chosen when there are no more than K, but of heads without any distance the first only.
// Otherwise the two that are farthest from each other, and then what is farthest from all that are
// chosen; with equal distances the lower rank. Takes distances in proportion to the square of the
// number of heads. Heads are not empty.
HeadSelection select_heads(std::span<const RankHead> heads, const ClusterOptions& options,
                           const RankDistances& distances);

// Which of `chosen` stands for this one: the nearest, of its structure unless they are mixed, and
// with two steps of its call path where there is one. With equal distances the first.
uint32_t nearest_head(std::span<const RankHead> chosen, const RankHead& head,
                      const ClusterOptions& options, const RankDistances& distances);

// What a node of the tree passes on: its own rank and what its children passed on, K of them.
std::vector<RankHead> merge_heads(std::vector<RankHead> own, std::vector<RankHead> of_children,
                                  const ClusterOptions& options, const RankDistances& distances);

// The same with the ranks that each head stands for: what they are given up with (the paper's way).
struct RankBranch {
  std::vector<RankHead> heads;
  std::vector<std::vector<uint32_t>> members;  // by head
};
RankBranch merge_branches(RankBranch own, RankBranch of_children, const ClusterOptions& options,
                          const RankDistances& distances);

enum class Assignment : uint8_t {
  kNearest,  // the heads of the root are told to all, and each rank takes the nearest
  kTree,     // where a head is given up, its ranks go to the nearest head there (the paper's way)
};

struct RankCluster {
  uint32_t lead = 0;
  std::vector<uint32_t> members;  // ascending, the lead among them
  // Distance of the member that is farthest from the lead.
  RankDistance radius;
};

// Of all ranks at once: `ranks` in the order of their numbers. Clusters are in the order of their
// leads, and every rank is in one.
std::vector<RankCluster> cluster_ranks(std::span<const RankHead> ranks,
                                       const ClusterOptions& options,
                                       const RankDistances& distances,
                                       Assignment assignment = Assignment::kNearest);

}  // namespace refrain::similarity
