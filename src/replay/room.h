// How many elements an output has room for when a recorded call is made again.
#pragma once

#include <cstddef>

#include "mpi/call_table.h"
#include "refrain/calls.h"

namespace refrain::replay {

// Of parameter i of the call, an output or an inout one; of a string, bytes. As many as MPI may
// write, which may be more than were recorded: at least 1.
size_t room_of(const Signature& call, const mpi::CallInfo& info, size_t i);

}  // namespace refrain::replay
