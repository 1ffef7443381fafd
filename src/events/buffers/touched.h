// The memory of the program that one call reads and writes.
//
// The rules are the buffers of mpi/call_meaning.h, applied to the parameters of a call: the root,
// MPI_IN_PLACE, MPI_PROC_NULL. For a receive this is an upper limit: its status has the received
// size.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "refrain/calls.h"
#include "refrain/trace.h"

namespace refrain::events {

struct Touched {
  int param = -1;  // position of the buffer; -1: memory of the target's window
  bool is_read = false, is_written = false;
  uint64_t bytes = 0;    // without the gaps of datatypes
  bool is_sized = true;  // false: the trace does not tell how many, `bytes` is 0
};

// Neighbours of this rank in a communicator: in-degree and out-degree; -1 where it is not known.
struct Degrees {
  int64_t in = -1, out = -1;
};

// By position of the parameter; buffers that the call leaves alone are not among them. `comm`: that
// of the call, or the world. The memory of a nonblocking or persistent call is touched until it
// completes.
std::vector<Touched> touched_by(const Trace& trace, const Signature& call, const Communicator& comm,
                                const std::function<Degrees(DefinitionId)>& degrees);

}  // namespace refrain::events
