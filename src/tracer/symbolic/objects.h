// Facts about communicators and datatypes that the recorder needs in addition to their handles.
#pragma once

#include <cstdint>

#include "tracer/state/process.h"
#include "tracer/symbolic/comm_ids.h"
#include "tracer/symbolic/encoder.h"

namespace refrain::tracer {

CommIds& comm_ids();

// Makes the definitions of MPI_COMM_WORLD and MPI_COMM_SELF; at the end of MPI_Init.
void define_world(Process& p);
// Lock held.
void release_comm(Process& p, uint32_t def);

uint32_t define_predefined_datatype(Process& p, uint64_t key, uint32_t constant);
// A derived datatype and everything that it is made of.
uint32_t define_datatype(Process& p, uint64_t type);

// A window or file: an id and the communicator it works on.
Captured define_with_comm(Process& p, Kind kind, uint64_t key, uint64_t comm_key);

}  // namespace refrain::tracer
