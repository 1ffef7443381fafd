// A communicator, for those who hand it on and know nothing of MPI.
#pragma once

#include <mpi.h>

#include "mpi_runtime/namespace.h"

namespace refrain::mpi_runtime {

struct RankComm {
  MPI_Comm comm = MPI_COMM_NULL;
};

}  // namespace refrain::mpi_runtime
