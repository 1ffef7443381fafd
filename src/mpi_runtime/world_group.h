// A group, for those who hand it on and know nothing of MPI.
#pragma once

#include <mpi.h>

namespace refrain::mpi_runtime {

struct WorldGroup {
  MPI_Group group = MPI_GROUP_NULL;
};

}  // namespace refrain::mpi_runtime
