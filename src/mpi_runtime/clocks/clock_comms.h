// The communicators along which clocks are compared.
#pragma once

#include <mpi.h>

#include "mpi_runtime/namespace.h"

namespace refrain::mpi_runtime {

struct ClockComms {
  // All ranks run on one system: there is nothing to compare, and the communicators are there for
  // rounds only.
  bool is_one_clock = false;
  // The ranks that share a clock, the first of them first, and the first of each host, rank 0
  // first: null where there are none, or where this is not the first one.
  MPI_Comm host = MPI_COMM_NULL, leaders = MPI_COMM_NULL;
  // Of a leader: it and the one that it asks run on one system.
  bool is_on_system_of_server = false;
};

}  // namespace refrain::mpi_runtime
