// The MPI library's own functions, called past a recorder that may stand in front of them: what the
// engine asks for itself (is that request complete? which ranks are in there?) is no call of the
// program that is replayed.
#pragma once

#include <mpi.h>

namespace refrain::replay {

// "PMPI_Test" of the MPI library itself; nullptr where it has no such function.
void* find_quiet(const char* name);

}  // namespace refrain::replay

// REFRAIN_QUIET(MPI_Test)(&request, ...). Falls back to the function that the linker found.
#define REFRAIN_QUIET(name)                                                             \
  ([] {                                                                                 \
    static const auto function = [] {                                                   \
      void* const quiet_found = refrain::replay::find_quiet("P" #name);                 \
      return quiet_found != nullptr ? reinterpret_cast<decltype(&P##name)>(quiet_found) \
                                    : &P##name;                                         \
    }();                                                                                \
    return function;                                                                    \
  }())
