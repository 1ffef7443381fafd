// How far two runs that do the same may be apart in time.
//
// One run of each is all there is, so the estimate comes from the spread within them, and is meant
// to be too large rather than too small. Calls that follow each other are slow together (a busy
// machine, a late partner): n of them say as much as sqrt(n) that know nothing of each other. Two
// standard errors of the difference, and 2 % that no two runs agree in.
#pragma once

#include <vector>

#include "analysis/diff/summary.h"

namespace refrain::analysis::diff {

// Standard error of a sum of durations; of fewer than four calls: all of it.
double error_of(const CallTimes& times);
// Standard error of the sum of a number of each rank.
double error_of(const std::vector<double>& by_rank);
// Of the difference of two numbers with such errors.
double noise_of(double before, double error_before, double after, double error_after);

}  // namespace refrain::analysis::diff
