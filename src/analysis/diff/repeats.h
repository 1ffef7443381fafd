// Several good runs: their variation says how much another good run may differ from them.
#pragma once

#include <vector>

#include "analysis/diff/diff.h"

namespace refrain::analysis::diff {

// `diff`: the first good run and the one that is judged; `others`: each further good run and the
// same one. What the time of a call path, all time and the waits were before becomes the mean of
// the good runs, and their noise a prediction interval of 99 % for one run more: Student's t, with
// the spread of the good runs; at least a quarter of the time, and a twentieth of the run's. Of two
// good runs the estimate from inside of the runs stays where it is larger. Counts stay those of the
// first run. Nothing without `others`.
void use_repeats(Diff& diff, const std::vector<Diff>& others);

// How far one value more may be from the mean of these, at 99 %; of fewer than two: 0.
double prediction_noise(const std::vector<double>& values);

}  // namespace refrain::analysis::diff
