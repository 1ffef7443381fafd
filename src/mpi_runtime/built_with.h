// The MPI that the recorder was built with; the MPI of the run may have another version.
#pragma once

#include <string>

namespace refrain::mpi_runtime {

// The MPI that the recorder was built with, and how its library's version string names it.
extern const char* const kBuiltWithName;     // "MPICH"
extern const char* const kBuiltWithVersion;  // "4.0.2"; empty: any will do

// The word of `record --mpi` for that MPI: "mpich". Of the standard's ABI, whichever MPI is behind
// it, "abi".
const char* own_word();

// What the library that runs says of itself.
std::string library_version();

// Whether the library that runs is of that version. Thread safe; asks the library once.
bool is_built_with_this();

// A program that opens its MPI while it runs may open another kind than the recorder's, whose
// handles are other values. Then: what to tell the user, which names the recorder that it needs.
// Empty: it has the recorder's, or `record` saw the program's MPI (REFRAIN_MPI_GUESSED is not 1).
std::string line_on_other_mpi();

// Rank 0, as the launcher says it: for what is said before MPI can be asked. True without one.
bool is_first_rank();

}  // namespace refrain::mpi_runtime

#include "mpi_runtime/namespace.h"
