// A job as text, for a terminal.
#pragma once

#include <cstddef>
#include <string>

#include "online/job_now.h"

namespace refrain::online {

// One line: "heat.rfn: running, 4 ranks, 123 456 calls, 20 000 a second".
std::string summary_text(const JobNow& job);

// The line, what is wrong, the functions that take most time, and what ranks do: the first `top` of
// each. Ends with a newline.
std::string state_text(const JobNow& job, size_t top);

}  // namespace refrain::online
