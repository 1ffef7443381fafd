// Facts about a communicator, from MPI.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/runs.h"
#include "mpi_runtime/namespace.h"

namespace refrain::mpi_runtime {

struct WorldGroup;

struct CommFacts {
  bool inter = false;
  int rank = 0, size = 0, remote_size = 0;
  base::RunList local, remote;  // ranks in the world; -1: of none of it
};
// `world`: the group whose ranks are meant. By keys of handles here and below.
CommFacts facts_of(uint64_t comm, const WorldGroup& world);

// As MPI_Comm_set_name left it.
std::string name_of_comm(uint64_t comm);

// Lengths of the neighbourhood.
struct CommDegrees {
  int in = 0, out = 0;
};
CommDegrees degrees_of(uint64_t comm, int rank);
int64_t dimensions_of(uint64_t comm);
// The rank that it has now: of a communicator of threads, each one's.
int rank_now(uint64_t comm, int otherwise);
// What each member gives, by rank; collective.
std::vector<int> gather_from_all(uint64_t comm, int mine, int size);

}  // namespace refrain::mpi_runtime
