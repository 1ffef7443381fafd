// MPI_Finalize: merges the records of the ranks into one file.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "real_functions.h"

#include "tracer/state/location.h"
#include "tracer/state/process.h"

namespace refrain::tracer {

// In MPI_Finalize, by a callback that MPI runs first thing: records the call itself
// (Process::end_finalize), and then finish_world().
void at_finalize();

// Behind what the program does in MPI_Finalize itself: recording ends; the ranks' records are
// merged in log2(P) rounds and rank 0 writes the trace. An error costs the trace and one line on
// stderr, never the program.
void finish_world(Location& location);

#ifdef REFRAIN_HAS_MPI_Session_init
// Sessions, of programs that never call MPI_Init and of others: without MPI_COMM_WORLD the process
// set mpi://WORLD is the world.
void session_is_up(Process& process, MPI_Session session, uint64_t init_ticks);
// Before MPI ends the session.
void session_ends(Process& process, MPI_Session session);
// At the begin of MPI_Finalize, on all ranks: whether some rank goes on with a session. Then
// finish_world() is not for this process, but hand_over_by_file(), when the process ends.
bool sessions_go_on(Process& process);
// The same at the end of an MPI_Finalize that has not run our callback: something keeps MPI up.
void mpi_goes_on(Process& process);
void hand_over_by_file();
#endif

}  // namespace refrain::tracer
