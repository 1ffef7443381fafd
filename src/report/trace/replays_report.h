// What `refrain check --replays` says.
#pragma once

#include <string>

#include "analysis/replays/replays.h"
#include "refrain/trace.h"

namespace refrain::report {

std::string replays_text(const Trace& original, const Trace& again,
                         const analysis::ReplayComparison& comparison);
std::string replays_json(const Trace& original, const Trace& again,
                         const analysis::ReplayComparison& comparison);
// The first difference in one line.
std::string difference_line(const Trace& original, const Trace& again,
                            const analysis::ReplayDifference& difference);

}  // namespace refrain::report
