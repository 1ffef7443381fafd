// Calls a function of MPI by its number; and named constants as the values of this MPI. Generated
// from spec/mpi and the mpi.h at hand (tools/gen/gen_reissue.py).
#pragma once

#include <cstdint>
#include <optional>

#include "mpi/call_table.h"
#include "replay/arguments.h"

namespace refrain::replay {

enum class Served : uint8_t {
  kNot,  // this MPI has no such function
  kItself,
  kByAnother,  // an equal one under another name
};
Served served(mpi::CallId id);

// What the function returned, an error code; MPI_SUCCESS where it returns something else. Nothing:
// it could not be called, as this MPI has none, or its numbers do not fit into the one in its
// place. MPI_Init, MPI_Comm_spawn and their relatives are not among them.
std::optional<int> reissue(mpi::CallId id, Arguments& arguments);

// A handle, a number or an address, as Slot::number. Nothing where this MPI has no such constant.
std::optional<uint64_t> value_of_constant(uint32_t id);

}  // namespace refrain::replay
