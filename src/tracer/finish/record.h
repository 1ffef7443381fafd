// The record of one rank in the form for the merge.
#pragma once

#include "format/merge/merge.h"
#include "tracer/state/process.h"

namespace refrain::tracer {

// Everything recorded so far, for good: what goes into the record leaves the process' tables.
// Fails when the spool lost what the tables had no room for.
base::Result<format::RankRecord> make_record(Process& process);

// What is known in MPI_Finalize only of calls that are not in the record, into the spool: for
// whoever makes the trace of that.
void add_late_losses(Process& process);
// The run's end, for who has the spool; `record`: its totals, pieces of work and cost.
void tell_run_end(Process& process, const format::RankRecord& record);
// The same where no record is made of it, because the analyser writes the trace.
void tell_run_end(Process& process);

}  // namespace refrain::tracer
