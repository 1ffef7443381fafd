// The cores on which this process may run, and the number of its context switches. Unknown under
// SMPI, whose ranks are not processes.
#pragma once

#include <cstdint>

#include "format/trace_data.h"

namespace refrain::tracer {

class Process;

// The cores of this host and those of them that the calling thread may use (its affinity mask). No
// cores: the system does not say.
format::RankPlace own_place();

// How often the system took the processor away from a thread of this process that could have gone
// on (involuntary context switches), since the process began. sched_yield() counts as one.
uint64_t involuntary_switches();

// MPI is up: notes both. The run ends: what there was in between, and when; the first time counts.
void begin_run(Process& process);
void end_run(Process& process);

}  // namespace refrain::tracer
