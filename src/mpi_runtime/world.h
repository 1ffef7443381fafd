// MPI's begin and end, as the recorder needs them.
#pragma once

#include "mpi_runtime/namespace.h"

namespace refrain::mpi_runtime {

struct RankComm;
struct WorldGroup;

// Whether MPI_Init has been called.
bool is_initialized();
// Of MPI_COMM_WORLD.
void learn_world(int* rank, int* size, WorldGroup* group);
// Errors of its calls are returned, and end nothing.
void return_errors(const RankComm& comm);
// From then on they are null.
void free_comm(RankComm* comm);
void free_group(WorldGroup* group);

// Calls `function` in MPI_Finalize, first thing: behind what the program hung there itself. False:
// this MPI has no such place.
bool call_in_finalize(void (*function)());

}  // namespace refrain::mpi_runtime
