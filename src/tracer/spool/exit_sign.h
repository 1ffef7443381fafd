// The sign that a process leaves in its spool when it ends on its own feet, without MPI_Finalize.
#pragma once

namespace refrain::tracer {

class Spool;

// From now on: the spool of this process, which lives as long as that.
void watch_exit(Spool& spool);
// MPI is about to end the process, which exit handlers will not see, or comes back after all.
void note_end_by_mpi();
void take_back_end_by_mpi();

}  // namespace refrain::tracer
