// Checks of a trace beyond the rules of its format: whether an MPI program can make these calls.
// For `refrain check`.
#pragma once

#include <string>
#include <vector>

#include "refrain/trace.h"

namespace refrain::reader {

// One line for each thing that cannot be, at most `max_findings`; empty for a sound trace.
//   - a signature has the parameters of its function
//   - a request was created by a call of the same ranks, before its first use
//   - whoever uses a communicator is a member of it, but for ranks of a clustered trace that have
//     the calls of a lead whose structure is not theirs
std::vector<std::string> verify(const Trace& trace, size_t max_findings);

}  // namespace refrain::reader
