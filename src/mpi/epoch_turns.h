// Calls that open and close epochs of a window (MPI 4.1, 12.5). A process has one epoch of a kind
// on a window at a time, and with MPI_Win_lock one for each target: threads that open some take
// turns. MPI_Win_fence is no such call: all threads' accesses share its epoch.
#pragma once

#include <cstdint>
#include <optional>

#include "mpi/call_table.h"

namespace refrain::mpi {

struct EpochTurn {
  enum class Of : uint8_t { kTarget, kAll, kStart, kPost };
  Of of = Of::kTarget;
  bool opens = false;  // false: it closes one
};

// Nothing: the call does neither.
std::optional<EpochTurn> epoch_turn(CallId call);

}  // namespace refrain::mpi
