// The end of MPI_Init, where a rank begins to be one of many.
#pragma once

#include <cstdint>

#include "tracer/process.h"

namespace refrain::tracer {

// At the end of a successful MPI_Init: rank, size, a private communicator of the recorded ranks (so
// that the program's own communicators never see a message of the recorder), world and self
// communicators.
void world_is_up(Process& process, uint64_t init_ticks);

}  // namespace refrain::tracer
