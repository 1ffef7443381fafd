// How far two runs that do the same may be apart in time.
//
// With one run of each the estimate comes from the spread within them. Calls that follow each other
// are slow together (a busy machine, a late partner): n of them say as much as sqrt(n) that know
// nothing of each other; and so are all ranks in one call: n is that of a rank. Two standard errors
// of the difference, and a quarter of the larger one, in which runs of one program differ that know
// nothing of each other. What the machine does beyond that shows in several runs only: repeats.h.
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
