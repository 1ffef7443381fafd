// How wrong a trace is in which leads stand for all: predicted from how far members are from them,
// and looked at on some of them. Relative errors.
#pragma once

#include <cstdint>
#include <vector>

#include "format/clusters.h"
#include "refrain/trace.h"
#include "similarity/ranks/k_farthest.h"

namespace refrain::analysis::clusters {

// What a rank's numbers add up to.
struct RankLoad {
  uint64_t calls = 0;
  uint64_t bytes = 0;  // handed to MPI
  uint64_t in_mpi_ns = 0, outside_ns = 0;
};

// Of every rank. Folds grammars.
std::vector<RankLoad> rank_loads_of(const Trace& trace,
                                    const std::vector<similarity::RankHead>& heads);

// From the radii alone.
//   replay    of the rank whose time from the first call to the last is off most
//   profile   of time in MPI and of elements in messages, over all ranks; the larger one
//   waits     of the time in MPI, over all ranks
double predicted_error(const format::ClusterData& data,
                       const std::vector<similarity::RankHead>& heads,
                       const std::vector<RankLoad>& loads);

// The same of all ranks, from the sampled ones, whose own numbers are compared with those of their
// leads. Of a replay it is that of the worst of them.
double checked_error(const format::ClusterData& data,
                     const std::vector<similarity::RankHead>& heads,
                     const std::vector<RankLoad>& loads, const std::vector<uint32_t>& sampled);

// Up to 16 of the ranks that are no leads, ascending; which ones follows from the seed.
std::vector<uint32_t> sample(const format::ClusterData& data, uint64_t ranks, uint64_t seed);

}  // namespace refrain::analysis::clusters
