// Synthetic communication in the patterns of real programs, for tests and benchmarks.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "format/merge/merge.h"
#include "format/testing/synthetic.h"

namespace refrain::format::testing {

// A program: what rank `rank` of dims[0] * dims[1] * ... records. Loops of `iterations`.
using Program =
    std::function<RankRecord(uint64_t rank, const std::vector<int64_t>& dims, uint64_t iterations)>;

struct Pattern {
  std::string name;
  size_t dimensions;  // of the mesh that it runs on
  Program program;
};
// Halo exchanges, sweeps, transposes, rings, collectives, communicators of rows, ...
const std::vector<Pattern>& patterns();
const Pattern& pattern(std::string_view name);

uint64_t rank_count(const std::vector<int64_t>& dims);

// A program of 1000 kinds of ranks, each with calls and an order of its own.
RankRecord irregular(uint64_t rank, uint64_t world_size);

// Of this process: other programs on the machine do not come into it.
double cpu_seconds();

// What merging cost; times are CPU time.
struct MergeCost {
  uint64_t message_bytes = 0;  // the largest message, totals of its ranks included
  uint64_t live_bytes = 0;     // the largest PartialTrace as a message, without totals
  uint64_t merges = 0;
  double seconds = 0;       // of all ranks together: serialise, parse, merge
  double root_seconds = 0;  // of rank 0, which has the most
  // Only where the caller counts its heap: bytes in use, and the most since it was last asked that.
  uint64_t (*heap_now)() = nullptr;
  uint64_t (*heap_peak)() = nullptr;
  uint64_t node_bytes = 0;  // the most that one merge needed, its arguments included, totals not
};

// Merges ranks [first, first + count) as MPI_Finalize does: in a binomial tree, the upper half
// through serialise() and parse(). Depth first, so that few ranks are in memory at a time.
PartialTrace merge_tree(uint64_t first, uint64_t count, uint64_t world_size,
                        const std::function<RankRecord(uint64_t)>& rank, MergeCost* cost = nullptr);

}  // namespace refrain::format::testing
