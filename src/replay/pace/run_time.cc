#include "replay/pace/run_time.h"

#include <sched.h>

namespace refrain::replay {

PaceClock& run_clock() {
  static PaceClock clock;
  return clock;
}

void give_way() { sched_yield(); }

Rank rank_in_job() { return -1; }

void leave_job(int) {}

bool can_watch() { return true; }

bool ranks_are_one_process() { return false; }

const void* shared_by_ranks() { return nullptr; }

void share_by_ranks(const void*) {}

}  // namespace refrain::replay
