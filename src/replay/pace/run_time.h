// What differs between ranks that are processes and ranks of a simulation: the clock, how time is
// let pass, and who one is.
//
// One source per kind, which the build selects: run_time.cc, run_time_smpi.cc.
#pragma once

#include <cstdint>

#include "refrain/ids.h"
#include "replay/pace/pace_clock.h"

namespace refrain::replay {

// Real time, or that of the simulation.
PaceClock& run_clock();

// Lets others run while this thread waits for something.
void give_way();

// The rank in the job, as far as the system tells; -1: it does not.
Rank rank_in_job();

// The rank ends with an error: a simulation ends with it, as its launcher looks at nothing else.
void leave_job(int status);

// Whether a thread of the system may watch a rank. A simulation sees for itself that nobody gets
// on.
bool can_watch();

// Where the ranks are one process: what one of them shares with those that come later, until the
// process ends. nullptr: there is nothing yet.
bool ranks_are_one_process();
const void* shared_by_ranks();
void share_by_ranks(const void* place);

}  // namespace refrain::replay
