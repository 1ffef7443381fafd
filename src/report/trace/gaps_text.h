// What `refrain stats`, `info` and Python say of the time between calls (`record --gaps`).
#pragma once

#include <cstddef>
#include <string>

#include "refrain/trace.h"

namespace refrain::report {

// A JSON array, a row for each signature that was called, longest gaps together first: signature,
// call, site, calls, sum_ns, mean_ns, min_ns, max_ns and histogram, a list of [from_ns, calls].
// Empty without gaps. Reads debug information.
std::string gaps_json(const Trace& trace);
// A table of at most so many of them; empty without gaps.
std::string gaps_text(const Trace& trace, size_t most);
// A line: "1.2 s before 3 456 calls, 347 us in the mean"; empty without gaps.
std::string gaps_line(const Trace& trace);

}  // namespace refrain::report
