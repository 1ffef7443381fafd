// The MPI that the recorder was built with, which may be another version than the one that runs.
#pragma once

namespace refrain::tracer {

// The MPI that the recorder was built with, and how its library's version string names it.
extern const char* const kBuiltWithName;     // "MPICH"
extern const char* const kBuiltWithVersion;  // "4.0.2"; empty: any will do

// Whether the library that runs is of that version. Thread safe; asks the library once.
bool is_built_with_this();

}  // namespace refrain::tracer
