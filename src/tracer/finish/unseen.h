// MPI functions that the recorder does not wrap.
#pragma once

#include <string>
#include <vector>

namespace refrain::tracer {

// Functions of MPI that the program, or a library of it, refers to and that this recorder has no
// wrapper for: it was built with an older MPI than the program runs with. Their names.
std::vector<std::string> functions_without_wrapper();

}  // namespace refrain::tracer
