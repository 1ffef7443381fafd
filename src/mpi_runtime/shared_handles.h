// Handle values that MPI returns for several requests at the same time.
#pragma once

#include <cstdint>
#include <functional>

#include "mpi_runtime/namespace.h"

namespace refrain::mpi_runtime {

struct RankComm;

// As far as can be seen without a message; for programs with MPI_THREAD_MULTIPLE. `comm`: one of
// the recorder's own. Visits the keys of such handles.
void find_shared_handles(const RankComm& comm, const std::function<void(uint64_t)>& visit);

}  // namespace refrain::mpi_runtime
