// The bytes that a collective call receives.
#pragma once

#include <cstdint>

#include "refrain/calls.h"
#include "refrain/trace.h"

namespace refrain::sim {

// Bytes that this rank gets from others and from itself, by its receive parameters; 0 where the
// trace does not tell. For a broadcast the root gets nothing.
uint64_t received_bytes(const Trace& trace, const Signature& call, const Communicator& comm);

}  // namespace refrain::sim
