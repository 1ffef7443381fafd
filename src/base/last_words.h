// How long the ranks of a job wait before they end it, so that the user can read why.
//
// Where all ranks find that they cannot go on, one of them says why and the others are silent. What
// a rank writes takes a moment through its launcher, and a launcher that ends a job drops what it
// has not passed on by then. Open MPI's (5) ends the job as soon as one rank has ended with a
// failure; MPICH's waits for all of them. MPI_Abort ends the job under both. So the rank that says
// why ends first, a moment after it has said it, and the others give it the time for that.
//
// Threads: any. Nothing here fails, takes memory or changes errno.
#pragma once

#include <time.h>

#include <chrono>

namespace refrain::base {

// A rank that has said why, before it calls MPI_Abort.
inline constexpr std::chrono::seconds kPassedOn{1};

// Asks once a millisecond, until the answer is true or `most` is over.
template <class IsDone>
void wait_until(IsDone is_done, std::chrono::milliseconds most) {
  const timespec millisecond{0, 1'000'000};
  for (auto left = most.count(); left > 0 && !is_done(); --left) nanosleep(&millisecond, nullptr);
}

// Returns when all that was written to the pipe has been read, when `most` is over, or at once
// where the descriptor is no pipe. For ranks that end for a reason of the program's: they wait no
// longer than it takes.
void wait_until_read(int pipe, std::chrono::milliseconds most);

// A silent rank before it calls MPI_Abort. All ranks are in one MPI function then, so the one that
// says why is there already.
inline constexpr std::chrono::seconds kBeforeSilentAbort{5};

// A silent rank that is ended by the one that says why. That may be busy for seconds until then,
// such as with a trace that it reads.
inline constexpr std::chrono::seconds kUntilEndedByAnother{10};

// A silent rank before it ends with the exit status. Where the launcher waits for all ranks, a
// longer wait would only keep the user.
constexpr std::chrono::seconds before_silent_failure(bool first_failure_ends_job) {
  return first_failure_ends_job ? kUntilEndedByAnother : kPassedOn;
}

static_assert(kPassedOn < kBeforeSilentAbort && kBeforeSilentAbort < kUntilEndedByAnother);

}  // namespace refrain::base
