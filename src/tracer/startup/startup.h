// The work of the recorder at the end of MPI_Init, where a rank can reach the others.
#pragma once

#include <atomic>
#include <cstdint>

#include "tracer/state/process.h"

namespace refrain::tracer {

// MPI began by a call that came through a wrapper.
extern std::atomic<bool> g_mpi_was_seen;

// At the end of a successful MPI_Init: rank, size, a private communicator of the recorded ranks (so
// that the program's own communicators never see a message of the recorder), world and self
// communicators. `at_finalize`: see finish.h.
void world_is_up(Process& process, uint64_t init_ticks, void (*at_finalize)());

}  // namespace refrain::tracer
