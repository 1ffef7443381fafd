// Groups of ranks that compute alike, and a rank that stands for each (PHANTOM, section 5).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "analysis/computation/sequences.h"
#include "format/vectors/vector_file.h"
#include "similarity/vectors/linkage.h"

namespace refrain::analysis::computation {

struct HowToGroup {
  enum class By : uint8_t {
    kLinkage,   // complete linkage, cut at `percent` (the paper's k)
    kClusters,  // k-means into `clusters` for each sequence
    kSequence,  // ranks of one sequence are a group
  };
  By by = By::kLinkage;
  double percent = 10;
  uint32_t clusters = 1;
  uint64_t seed = 1;
};

// Times of ranks that ran alone, in the place of those of traces.
struct SoloTimes {
  format::vectors::VectorFile file;
  std::string name;
};

// What goes on, for who waits: calls read of all, then the part of the distances that is done. And
// the vectors that are compared, for who wants them: of each sequence in turn, units first to
// first + count of all its ranks, vector after vector.
struct GroupProgress {
  std::function<void(uint64_t calls)> read;
  std::function<void(double part)> compare;
  std::function<void(const Sequence& sequence, uint64_t first, uint64_t count,
                     std::span<const uint64_t> units_ns)>
      vectors;
};

// Times in ns.
struct RankGroup {
  uint32_t sequence = 0;    // index into RankGroups::sequences
  Rank representative = 0;  // nearest to the mean of the group; of equals the lowest
  base::RunList ranks;
  double radius_ns = 0;       // largest distance of a member to it
  double distance_ns = 0;     // sum of the members' distances to it
  double computation_ns = 0;  // sum of the members' units
};

struct SequenceGroups {
  Sequence sequence;
  // Where the dendrogram was cut: percent / 100 of the mean of the ranks' sums (formula 6).
  double height_ns = 0;
  double computation_ns = 0;          // of all its ranks
  similarity::Dendrogram dendrogram;  // leaves: ranks of the sequence in their order; By::kLinkage
  std::vector<std::vector<uint64_t>> curves;  // of the representatives, in few points: see below
};

struct RankGroups {
  std::vector<SequenceGroups> sequences;  // in the order of their first ranks
  std::vector<RankGroup> groups;          // the same, then of the groups' first ranks
  std::vector<int32_t> group_of;          // by rank; -1: in none
  std::vector<std::string> traces;
  Rank ranks = 0;
};

// Units of a curve that are summed up to one point.
inline constexpr uint64_t kCurvePoints = 400;

// `traces`: of the same program, at least one; units are the least of all. Fails where they have
// other ranks or sequences than the first, or no times. `times`: units are theirs, whether the
// traces have times or not; null: none.
base::Result<RankGroups> groups_of(const std::vector<Trace>& traces, const HowToGroup& how,
                                   const GroupProgress& progress = {},
                                   const SoloTimes* times = nullptr);

}  // namespace refrain::analysis::computation
