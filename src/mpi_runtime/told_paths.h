// What `refrain replay` and a recorder of it say to each other: where in the recorded program the
// calls stood, so that the trace of a replay has the program's own places, not the replay's; and
// that a request has another handle now.
//
// The recorder exports three functions under these names; a replay looks them up (dlsym) and does
// without where nobody records it. Calls of other programs pay nothing for this: what is told goes
// the way of the call sites of Fortran, for which every call looks anyway. Paths are for the
// calling thread, and a call takes what was told at most once.
#pragma once

#include <cstddef>
#include <cstdint>

namespace refrain::mpi_runtime {

struct ToldSite {
  const char* module;    // as in refrain::Site; ends with 0
  const char* build_id;  // hexadecimal, or of a source file; ends with 0
  int64_t offset;
};

// Makes a call path known, innermost site first; the answer stands for it in this process.
// Negative: it cannot be kept. The calling thread is one of the record from now on, if it was not
// before.
inline constexpr const char* kDefineToldPath = "refrain_define_told_path";
using DefineToldPath = int64_t (*)(const ToldSite* sites, size_t count);

// The path of the thread's next call of MPI.
inline constexpr const char* kTellPath = "refrain_tell_path";
using TellPath = void (*)(int64_t path);

// The request that is known by one handle, as a key (handle_map.h), is known by another one from
// now on. No call that completes it is under way. Without effect where the first is not known.
inline constexpr const char* kTellHandle = "refrain_tell_handle";
using TellHandle = void (*)(uint64_t before, uint64_t now);

}  // namespace refrain::mpi_runtime
