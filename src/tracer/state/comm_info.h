// Facts about a live communicator in addition to its definition.
#pragma once

#include "mpi_runtime/comm_facts.h"

namespace refrain::tracer {

// Indexed by definition.
struct CommInfo : CommFacts {
  bool of_threads = false;  // MPICH's: its ranks are threads, and `rank` is this process's first
  int family = -1, member = 0;  // see comm_ids.h
  // Lengths of the neighbourhood, -1 until asked for.
  int in_degree = -1, out_degree = -1;
};

}  // namespace refrain::tracer
