// The MPIs that there is a recorder for, and by which libraries a program of each is known:
// the list in cmake/RefrainKnownMpis.cmake.
#pragma once

#include <string_view>
#include <vector>

namespace refrain::base {

// Their words, as `record --mpi` and librefrain-<word>.so have them: "mpich".
std::vector<std::string_view> known_mpis();
// Those of them whose ranks are processes, with a compiler wrapper of their own.
std::vector<std::string_view> launched_mpis();

// The word for a library by its file name ("libmpi.so.40.30.4"); "other" for one of an MPI without
// a recorder, empty for one that is none of MPI's. Allocates nothing.
std::string_view mpi_of_library(std::string_view name);
// Whether that library is an MPI, and not a part of one, which may be there for other reasons.
bool is_main_library(std::string_view name);

}  // namespace refrain::base
