// What is called in the place of the program's own functions: they do nothing, and say that all is
// well.
#pragma once

#include <cstdint>
#include <string_view>

#include "mpi/call_table.h"

namespace refrain::replay {

// For a parameter of a function that takes a callback; nullptr where there is none for it.
void* stand_in(mpi::CallId call, std::string_view parameter);

// MPI_REQUEST_NULL as the key of a handle.
uint64_t null_request();

}  // namespace refrain::replay
