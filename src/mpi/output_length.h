// How long an array is that a call fills: from the lengths in spec/mpi/calls.
#pragma once

#include <cstddef>

#include "mpi/call_table.h"

namespace refrain::mpi {

// The parameter whose value at entry is the most elements that parameter `param`, an array or a
// string, may have after the call: `incount` of the statuses of MPI_Waitsome, `maxdims` of those of
// MPI_Cart_get. -1: the table does not tell.
int output_length(CallId id, size_t param);

}  // namespace refrain::mpi
