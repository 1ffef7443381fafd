// Facts about a datatype, from MPI: its size, and its construction.
#pragma once

#include <cstdint>
#include <vector>

#include "base/runs.h"
#include "mpi_runtime/namespace.h"

namespace refrain::mpi_runtime {

// All by keys of handles.
struct TypeShape {
  int64_t size = 0, lb = 0, extent = 0;
};
TypeShape shape_of(uint64_t type);

// Whether MPI may be asked of a handle that nobody has seen being made: it looks like a derived
// type of this MPI. Never where a handle is an address.
bool may_be_datatype(uint64_t type);

// In numbers wide enough for every MPI.
struct TypeContents {
  int combiner = 0;
  base::RunList integers, addresses;
  std::vector<uint64_t> types;  // references of ours: see give_back()
};
// False: MPI does not say.
bool contents_of(uint64_t type, TypeContents& out);
// MPI hands out new references to derived types.
void give_back(uint64_t type);

}  // namespace refrain::mpi_runtime
