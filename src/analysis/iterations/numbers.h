// What the rows of a loop have in common.
#pragma once

#include "analysis/iterations/iterations.h"

namespace refrain::analysis::iterations {

// Fills in all that follows from the rows: statistics, the slowest row, outliers and the trend.
void put_numbers(IterationLoop& loop);

}  // namespace refrain::analysis::iterations
