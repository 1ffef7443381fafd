// How uncertain the recorded computation of each rank is, which another run of the program does not
// repeat to the ns.
//
// A unit is what a thread computes between two calls. Units before calls of one signature, behind
// calls of one signature, are taken for the same work: half the mean square of what each differs
// from the one before it is the variance of one (J. von Neumann, 1941), whatever slow changes there
// are. The variance of the rank's sum is the sum of those.
//
// Another run is another draw, and so the difference of two runs of a rank has twice that variance.
// Part of what ranks differ by is that same chance. A rank is drawn around its sum, moved towards
// the mean of its group by the share of the group's variance that chance explains (W. James, C.
// Stein, 1961), so that chance is not counted twice.
//
// Units: shares of the rank's sum. Threads: any.
#pragma once

#include <vector>

#include "refrain/trace.h"

namespace refrain::sim {

struct RecordedSpread {
  std::vector<double> centre;     // of each rank; 1: what was recorded
  std::vector<double> deviation;  // one standard deviation, of another run
};

// Reads all times once. Of a trace without times of calls: 1 and 0.
RecordedSpread recorded_spread(const Trace& trace);

// `sums` and their variances by rank, and the ranks of each group.
RecordedSpread spread_of(const std::vector<double>& sums, const std::vector<double>& variances,
                         const std::vector<std::vector<Rank>>& groups);

}  // namespace refrain::sim
