// A communicator, for code without <mpi.h> that passes it on.
#pragma once

#include <mpi.h>

#include "mpi_runtime/namespace.h"

namespace refrain::mpi_runtime {

struct RankComm {
  MPI_Comm comm = MPI_COMM_NULL;
};

}  // namespace refrain::mpi_runtime
