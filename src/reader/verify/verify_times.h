// Checks whether all times of a trace can be read and are within their error bound. For `refrain
// check`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "refrain/trace.h"

namespace refrain::reader {

// Every block: its checksum, its order, and that every call has a time. One line for each thing
// that is wrong, at most `max_findings`; empty for good times, or none.
std::vector<std::string> verify_times(const Trace& trace, size_t max_findings);

// The same run, recorded once more with exact times: whether each call of `trace` is within the
// bound. Fails when the two are not the same run, or `exact` is not exact.
struct BoundCheck {
  std::vector<std::string> findings;
  uint64_t calls = 0;
  double worst = 0;  // error in parts of what is allowed
};
Result<BoundCheck> verify_bound(const Trace& trace, const Trace& exact, size_t max_findings);

}  // namespace refrain::reader
