// What a rank of the analyser asks of MPI: refrain-relay-<mpi>, src/tracer/relay/.
#pragma once

#include <cstdint>

#include "mpi_runtime/live_partitions.h"

namespace refrain::mpi_runtime {

// MPI_Init. False: MPI failed.
bool begin_mpi();
// MPI_Abort before MPI_Init, by a session, for which no other rank is needed.
[[noreturn]] void abort_without_world(int status);
void learn_job(int* rank, int* size);
// What a program has said that was not told yet; of several, any one. Does not wait.
enum class ProgramNews : uint8_t { kNone, kIsEnding, kEnds };
ProgramNews program_news();
// MPI_Comm_split with the programs, in which analysers get nothing.
bool join_split(const LivePartitions& found);
void end_mpi();
// MPI_Abort of the whole job.
void abort_job(int status);

}  // namespace refrain::mpi_runtime
