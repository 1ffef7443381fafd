// Jobs that the program started with MPI_Comm_spawn: each has a trace of its own, beside that of
// the job that started it, and is replayed from it.
//
// The name of a trace follows from the name of its parent's, as the recorder chose it:
// run.spawn1.rfn for the first job that rank 0 of run.rfn started. No path that a trace tells is
// opened.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpi/call_table.h"
#include "refrain/trace.h"
#include "replay/plan/look.h"

namespace refrain::replay::plan {

// MPI_Comm_spawn or MPI_Comm_spawn_multiple.
bool starts_job(CallId call);

// The trace of the `number`-th job, from 1, that `root` of the trace `path` has started.
std::string trace_of_started(const std::string& path, Rank root, uint64_t number);

struct StartedJob {
  std::string trace;       // its path; empty: it was not recorded
  uint64_t processes = 0;  // that were asked for
};
// Those that the trace tells, in the order of their ranks and calls.
std::vector<StartedJob> started_jobs(const Trace& trace);

// Why the jobs that the trace has started cannot be replayed, as the end of a sentence; empty: they
// can, or there are none because all calls failed. Opens their traces, and those of the jobs that
// they have started.
std::string why_not_started(const Trace& trace, const LookOptions& options);

}  // namespace refrain::replay::plan
