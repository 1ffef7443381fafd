// The end of the record of a rank whose program jumps, from a signal handler, out of the recorder
// itself: what was being changed then is neither old nor new, and a lock may be held for good.
#pragma once

#include "tracer/process.h"

namespace refrain::tracer {

// From here on calls pass by, nothing that was recorded is looked at again, and MPI_Finalize hands
// over nothing: the spool has it, for `refrain recover`. Complains once. Takes no lock.
void abandon_record(Process& process);
bool is_abandoned();

}  // namespace refrain::tracer
