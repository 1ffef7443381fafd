// The ranks of a job, as they were received, put together as MPI_Finalize does it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "format/spool/post_mortem.h"
#include "format/spool/read.h"
#include "online/job_now.h"

namespace refrain::online {

// The trace of a job until now, of which the state and the sizes are known; its losses, and who
// died first. None where no rank could be read.
void take_trace(format::spool::PostMortem& all, JobNow& job);

// What a trace says of its job: ranks, calls, losses, functions, who died first.
void describe(const Trace& trace, JobNow& job);

// A job that has ended, by its trace alone, which is opened again when somebody asks for it.
JobNow ended_job(const std::string& name, const std::string& trace_file, const Trace& trace);

// The trace file of a job that is over, with times of single calls. `is_whole`: all ranks are there
// and have ended as they should. `has_finished`: they have, but not all of them came.
base::Status write_received(std::vector<format::spool::RankSpool> ranks, bool is_whole,
                            bool has_finished, const std::string& output);

}  // namespace refrain::online
