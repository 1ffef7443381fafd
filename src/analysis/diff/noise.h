// How much the times of two runs of the same program may differ.
//
// With one run before and one after, the estimate comes from the variation within each run.
// Consecutive calls are correlated (a busy machine, a late partner): n calls count as sqrt(n)
// independent ones. All ranks in one call are correlated, too, so n is the number of calls of one
// rank. The noise is two standard errors of the difference, plus a quarter of the larger time, by
// which independent runs of one program were seen to differ. Further variation of the machine shows
// only in several runs: repeats.h.
#pragma once

#include <vector>

#include "analysis/diff/summary.h"

namespace refrain::analysis::diff {

// Standard error of a sum of durations of so many ranks; of fewer than four calls each: all of it.
double error_of(const CallTimes& times, double ranks);
// Standard error of the sum of a number of each rank.
double error_of(const std::vector<double>& by_rank);
// Of the difference of two numbers with such errors.
double noise_of(double before, double error_before, double after, double error_after);

}  // namespace refrain::analysis::diff
