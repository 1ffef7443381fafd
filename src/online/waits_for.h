// Who waits for whom when no rank of a job moves: the circle of a deadlock.
//
// The spool says in which function a rank is, not with which parameters: those are recorded when
// the call returns. So they are taken from the call before that is most like it: of the last 4096
// calls of the rank, the one of this function with the longest context (the calls in front of it)
// in common, up to 8. Programs repeat themselves, so this is mostly right; where it is not, the
// circle is one that would explain what is seen, and the words say so.
#pragma once

#include "online/job_now.h"

namespace refrain::online {

// Fills in JobNow::circle, in order: each rank waits for the next one, and the last for the first.
// Empty where no circle follows, and where some rank still moves.
void find_circle(JobNow& job);

}  // namespace refrain::online
