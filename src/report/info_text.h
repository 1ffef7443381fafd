// What `refrain info` says: the run, its size and whether anything is missing.
#pragma once

#include <cstdint>
#include <string>

#include "base/runs.h"
#include "base/text.h"
#include "refrain/trace.h"

namespace refrain::report {

// One JSON object, indented, with a line end.
std::string info_json(const Trace& trace);
std::string info_text(const Trace& trace);

// "0", "1-3", "0-62:2, 5": runs of ranks, with a step when it is not 1. Past `max_runs` runs it
// ends in "...".
std::string rank_list_text(const base::RunList& ranks, size_t max_runs);

// "1.5 s", "310 us": three digits and a unit.
std::string duration_text(uint64_t ns);
std::string time_text(double ns);  // the same, of a sum or a mean
using base::count_text;
using base::counted_text;

}  // namespace refrain::report
