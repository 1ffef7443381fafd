// librefrain-wtime.so: preloaded beside a recorder by `record --messages` alone, so that programs
// that are not logged read the clock without a detour. MPI_Wtime of C; Fortran's entries call it.
//
// Laws: needs no C++ runtime; the value is the library's, and the recorder is told of it.
#include <dlfcn.h>

extern "C" {

// The recorder's, where there is one.
__attribute__((weak)) void refrain_log_wtime(double seconds, const void* caller);

static double from_behind(const char* name, const void* caller) {
  static thread_local bool inside;           // one entry of the library calls the other
  static thread_local double (*known[2])();  // MPI_, PMPI_
  double (*&real)() = known[name[0] == 'P'];
  if (real == nullptr) real = reinterpret_cast<double (*)()>(dlsym(RTLD_NEXT, name));
  if (real == nullptr) return 0;
  if (inside) return real();
  inside = true;
  const double seconds = real();
  inside = false;
  if (refrain_log_wtime != nullptr) refrain_log_wtime(seconds, caller);
  return seconds;
}

__attribute__((visibility("default"))) double MPI_Wtime() {
  return from_behind("MPI_Wtime", __builtin_return_address(0));
}

__attribute__((visibility("default"))) double PMPI_Wtime() {
  return from_behind("PMPI_Wtime", __builtin_return_address(0));
}

}  // extern "C"
