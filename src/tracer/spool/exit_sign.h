// The sign that a process leaves in its spool when it ends on its own feet, without MPI_Finalize.
#pragma once

#include <string>

namespace refrain::tracer {

class Process;
class Spool;

// From now on: the spool of this process, which lives as long as that.
void watch_exit(Spool& spool);
// The spool is there: what say_unfinished() prints is put together, and one rank of the run prints
// it (which is a file beside the spool's; ranks that do not see each other's files each have a
// first).
void watch_unfinished(const Process& process, const std::string& folder, const std::string& run);
// One line for the job, unless --quiet was asked for: this rank does `what`, so there will be no
// trace, and how to get one. Nothing when MPI has come to its end, or the spool to its own. Takes
// no memory: programs call MPI_Abort in handlers of signals.
void say_unfinished(const char* what);
// MPI_Abort has come back, or the program is done after all.
void forget_unfinished();

// MPI is about to end the process, which exit handlers will not see, or comes back after all.
void note_end_by_mpi();
void take_back_end_by_mpi();

}  // namespace refrain::tracer
