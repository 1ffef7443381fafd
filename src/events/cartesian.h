// The Cartesian grid in which a program arranges its ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "refrain/trace.h"

namespace refrain::events {

struct CartesianGrid {
  std::vector<int64_t> dims;
  std::vector<bool> periods;  // empty: not known
  // World rank of every cell, the last dimension fastest, as MPI numbers a Cartesian communicator;
  // -1: of another world.
  std::vector<Rank> ranks;
  // MPI_Cart_create; or MPI_Dims_create, where nothing but the shape is known and ranks are taken
  // in order.
  std::string source;
  std::string communicator;  // "comm#1"; empty for MPI_Dims_create
};

// The largest Cartesian communicator of the trace, the first of several; without one, a shape of
// the whole world that MPI_Dims_create gave. Nothing where the program has neither.
// O(signatures).
std::optional<CartesianGrid> cartesian_grid(const Trace& trace);

}  // namespace refrain::events
