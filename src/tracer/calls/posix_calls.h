// Calls of POSIX and stdio functions (`record --posix on`): the recorder's end of
// librefrain-posix.so. Counted from the first MPI call of the process to its MPI_Finalize.
#pragma once

#include <vector>

#include "format/trace_data.h"
#include "tracer/posix/posix_table.h"

namespace refrain::tracer {

class Process;

// Counting begins if the library is in the process.
void begin_posix(Process& p);
bool counts_posix();
// MPI is up: what it has loaded is known from now on. Before, who is not known is none of the
// program; after it, one that was loaded later may be.
void know_posix_callers();
// Nothing is recorded, or again.
void pause_posix(bool is_paused);
// Counts go on in the spool. `area`: zero, of kPosixFunctions counters, mapped until the process
// ends.
void keep_posix_in(format::PosixCounter* area);
// Counting ends.
void end_posix();
// What was counted; times by the rate of the whole run.
std::vector<format::PosixUse> posix_uses(const Process& p);

}  // namespace refrain::tracer
