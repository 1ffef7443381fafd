// Synthetic runs of known behaviour: the work of each rank in each iteration, and the waiting that
// follows from it; and the waiting that remains in a reduced run. For tests and benchmarks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "similarity/method.h"
#include "similarity/segment_profile.h"

namespace refrain::similarity::testing {

enum class Pattern : uint8_t {
  kBarrier,     // everybody works, then waits for everybody
  kLateSender,  // even ranks work and send, odd ones work and receive from the rank before
};

// One iteration of a rank: times of its calls. The last call is the one that may wait.
struct Iteration {
  int64_t start_ns = 0;
  std::vector<double> stamps;
};

struct SyntheticRun {
  std::string name;
  Pattern pattern = Pattern::kBarrier;
  std::vector<std::vector<Iteration>> ranks;
};

// Regular with noise; one late rank; interference now and then; slow drift with a rank that does
// more; dynamic load balancing (section 5.1.1: half of the ranks do more from iteration to
// iteration and the others less, until it is evened out); small calls before a wait; late senders,
// regular and with interference.
std::vector<SyntheticRun> synthetic_runs(uint32_t ranks, uint32_t iterations, uint64_t seed);

struct Outcome {
  SegmentProfile profile;
  double percent_of_full = 0;         // by the size models of the thesis
  uint64_t representative_bytes = 0;  // of its trace profile, without lists of starts
  double degree_of_matching = 0;
  double approximation_distance_ns = 0;
  // Seconds waited: of all ranks, and how far the ranks' own sums are off, by the mean of the
  // ranks.
  double waited_s = 0;
  double waited_rebuilt_s = 0;
  double worst_rank_error = 0;

  double total_error() const;
  // Whether somebody who looks at the waiting would say the same: all of it within 10 %, each
  // rank's within 15 % of the ranks' mean. Below 1 % of the run there is nothing to see.
  bool is_retained() const {
    return negligible || (total_error() <= 0.1 && worst_rank_error <= 0.15);
  }
  bool negligible = false;
};

// `combined`: ranks are united as well.
Outcome reduce_and_rebuild(const SyntheticRun& run, const MethodSpec& method, bool combined,
                           Uniting uniting = Uniting::kGroups);

}  // namespace refrain::similarity::testing
