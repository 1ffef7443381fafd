// Connects the recorders of a job's ranks at the end of MPI_Init. A job in which some ranks have no
// recorder must not wait for them.
#pragma once

#include <cstdint>

#include "tracer/state/process.h"

namespace refrain::tracer {

// Before the MPI library's MPI_Init.
void about_to_join();

// Before the MPI library's MPI_Session_init, of a process that has not begun with MPI.
void about_to_begin_session();
// Behind it: true beside an analyser, which cannot be (docs/decisions/0213). A line has said so,
// and the caller ends the job with MPI_Abort.
bool is_session_beside_analyser();

// Behind MPI_Init: makes recorders() a private communicator of the ranks that are recorded. Where
// all ranks of this host are, and those of others are not known, it is one of all ranks, for which
// all must come: if that takes longer than REFRAIN_JOIN_LIMIT seconds (120; 0: no limit), one line
// says why, and MPI_Abort ends the job. The greatest of each of `count` words among these ranks is
// found on the way. False: this process is not recorded, and has said so.
bool join_peers(Process& process, uint64_t* words, int count);

// With a spool, that there are ranks which are not recorded.
void note_unrecorded(Process& process);

// The trace is written.
void leave_peers();

}  // namespace refrain::tracer
