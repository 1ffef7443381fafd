// The call site of a Fortran program. The generated trampolines (fortran_trampolines.S) save it,
// because the caller of the C function is the MPI library's Fortran layer.
#pragma once

#include <cstdint>

namespace refrain::mpi_runtime {

struct FortranSite {
  void* address;  // return address in the program
  void* sp;       // stack pointer at the entry point
  uint64_t call;  // CallId of the C function of that name
  void* real;     // the library's entry point, where fortran_bodies.cc is to call it
};

// Value of FortranSite::call for the call of a replay, which has said what path it stands for:
// `sp` is 1 + the definition of the path (told_paths.cc).
inline constexpr uint64_t kToldCall = UINT64_MAX - 1;

}  // namespace refrain::mpi_runtime

extern "C" {
// Layout and name are known to the trampolines. `__thread`: known to need no initialisation, so
// that no access asks for it.
extern __attribute__((
    tls_model("initial-exec"),
    visibility("hidden"))) __thread refrain::mpi_runtime::FortranSite refrain_fortran_site;
}
