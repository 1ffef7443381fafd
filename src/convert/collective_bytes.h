// What a collective call hands in and gets, in bytes; what other tools call it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "refrain/calls.h"
#include "refrain/trace.h"

namespace refrain::convert {

// The name of the blocking form, in lower case and without MPI_: "allreduce" for MPI_Iallreduce_c
// and MPI_Allreduce_init.
std::string plain_collective(std::string_view name);

// Bytes that this rank gets from others and from itself, by its receive parameters; 0 where the
// trace does not tell. For a broadcast the root gets nothing.
uint64_t received_bytes(const Trace& trace, const Signature& call, const Communicator& comm);

}  // namespace refrain::convert
