// Calls of POSIX and stdio functions as text, JSON or CSV.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "analysis/posix.h"
#include "refrain/trace.h"

namespace refrain::report {

// A table of the first `top` functions, 0: all.
std::string posix_text(const analysis::PosixProfile& profile, size_t top);
// A line for each function of a rank, by rank.
std::string posix_rank_text(const analysis::PosixProfile& profile, size_t top);
// {"functions": [...]}, times in nanoseconds, and of each function a list `by_rank`.
std::string posix_json(const Trace& trace, const analysis::PosixProfile& profile);
// A line for each function, or for each function of a rank.
std::string posix_csv(const analysis::PosixProfile& profile, bool by_rank);

// "12 functions, 3 000 calls, 1.50 MiB, 12.3 ms"; empty when such calls were not counted.
std::string posix_line(const analysis::PosixProfile& profile);
// What the page has of it, too: functions without their ranks.
nlohmann::ordered_json posix_rows_json(const analysis::PosixProfile& profile);

}  // namespace refrain::report
