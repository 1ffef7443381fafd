// Memory that MPI allocated for a window.
#pragma once

#include <cstdint>
#include <functional>

#include "mpi_runtime/namespace.h"

namespace refrain::mpi_runtime {

// Visits begin and bytes of each piece of it: of all ranks where they share it. `window`: the
// handle's key.
void for_each_piece_of_window(uint64_t window,
                              const std::function<void(const void*, int64_t)>& visit);

}  // namespace refrain::mpi_runtime
