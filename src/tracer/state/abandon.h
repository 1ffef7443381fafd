// Ends the record of a rank before its program ends. Reasons: a signal handler jumped out of the
// recorder (its data may be inconsistent, and a lock may stay locked), or there is no memory.
#pragma once

#include "tracer/state/process.h"

namespace refrain::tracer {

// From here on calls pass by, nothing that was recorded is looked at again, and MPI_Finalize hands
// over nothing: the spool has it, for `refrain recover`. Complains once. Takes no lock.
void abandon_record(Process& process);
bool is_abandoned();

// The first call that is not recorded for want of memory: what the spool has stays there.
void out_of_memory(Process& process);

}  // namespace refrain::tracer
