// From the record of each rank to one file: setting up at MPI_Init, merging at MPI_Finalize.
#pragma once

#include <mpi.h>

#include "real_functions.h"

#include "tracer/location.h"
#include "tracer/process.h"

namespace refrain::tracer {

// At the end of a successful MPI_Init: rank, size, a private duplicate of MPI_COMM_WORLD (so that
// the program's own communicators never see a message of the recorder), world and self
// communicators.
void world_is_up(Process& process, uint64_t init_ticks);

// In MPI_Finalize, by a callback that MPI runs first thing: records the call itself, and then
// finish_world().
void end_in_finalize(Process& process);

// Behind what the program does in MPI_Finalize itself: recording ends; the ranks' records are
// merged in log2(P) rounds and rank 0 writes the trace. An error costs the trace and one line on
// stderr, never the program.
void finish_world(Location& location);

#ifdef REFRAIN_HAS_MPI_Session_init
// Programs that use sessions and never call MPI_Init: the process set mpi://WORLD is their world.
void session_is_up(Process& process, MPI_Session session, uint64_t init_ticks);
void session_ends(Location& location);
#endif

}  // namespace refrain::tracer
