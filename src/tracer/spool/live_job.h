// Tells `refrain live serve` of this job (`record --live-dir`), and the analyser of the same launch
// (`record --live`).
#pragma once

#include <cstdint>
#include <string>

namespace refrain::tracer {

class Process;

// Once the spool is in `folder`. The first rank that comes here does it for all; one that cannot
// prints a line, and the job goes on unseen.
void register_job(const Process& process, uint64_t run, const std::string& folder);

}  // namespace refrain::tracer
