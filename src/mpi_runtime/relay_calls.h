// What a rank of the analyser asks of MPI: refrain-relay-<mpi>, src/tracer/relay/.
#pragma once

#include "mpi_runtime/live_partitions.h"

namespace refrain::mpi_runtime {

// MPI_Init. False: MPI failed.
bool begin_mpi();
// MPI_Abort before MPI_Init, by a session, for which no other rank is needed.
[[noreturn]] void abort_without_world(int status);
void learn_job(int* rank, int* size);
// Whether a program has said that it ends, since the last one did. Does not wait.
bool has_program_ended();
// MPI_Comm_split with the programs, in which analysers get nothing.
bool join_split(const LivePartitions& found);
void end_mpi();
// MPI_Abort of the whole job.
void abort_job(int status);

}  // namespace refrain::mpi_runtime
