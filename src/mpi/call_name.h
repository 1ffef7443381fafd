// What a function is called in texts, tables and messages, also where nobody knows it.
#pragma once

#include <string>

#include "mpi/call_table.h"

namespace refrain::mpi {

// "MPI_Isend"; "call#4000" for an id that this version lacks: it is from a file of a later one.
// Such a name is no function of any table, so that --skip and its kin refuse it.
inline std::string call_name(CallId id) {
  const CallInfo* const info = find_call(id);
  return info == nullptr ? "call#" + std::to_string(id) : std::string(info->name);
}

}  // namespace refrain::mpi
