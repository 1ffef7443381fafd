// A group, for code without <mpi.h> that passes it on.
#pragma once

#include <mpi.h>

namespace refrain::mpi_runtime {

struct WorldGroup {
  MPI_Group group = MPI_GROUP_NULL;
};

}  // namespace refrain::mpi_runtime
