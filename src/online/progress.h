// How far a job is: iterations of the loop in which each rank has made most of its calls.
//
// The grammar of a rank has its loops as repetitions; the outermost one that stands for most calls
// is the main loop. No times are needed, and nothing is expanded.
#pragma once

#include "online/job_now.h"

namespace refrain::online {

// Fills in JobNow::loop, and RankNow::iterations of the ranks that `trace` has. What differs by up
// to one iteration: the one that a rank is in may be counted or not.
void add_progress(const Trace& trace, JobNow& job);

}  // namespace refrain::online
