// The recorder's own communicator, made in MPI_Init.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi_runtime/namespace.h"

namespace refrain::mpi_runtime {

struct RankComm;

// Of all ranks, for which all must come. The greatest of each of `count` words among them is found
// on the way. False: MPI failed.
bool make_comm_of_all(RankComm* comm, uint64_t* words, int count);
// Of these ranks of MPI_COMM_WORLD: the others know nothing of it.
bool make_comm_of(const std::vector<int>& ranks, RankComm* comm, uint64_t* words, int count);
void set_null(RankComm* comm);

// Ends the job. What looks the function up is not for handlers of signals: so that comes before.
void be_ready_to_abort();
void abort_world();

}  // namespace refrain::mpi_runtime
