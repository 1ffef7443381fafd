// Access to the recorder's state: the calling rank (Process) and thread (Location), its stack, and
// whether it is recorded (slow_path_reasons.h).
//
// Under an MPI whose ranks are processes this is thread-local storage, initial-exec model (below
// one nanosecond), and plain globals: current.cc. Where the ranks are user-level threads of one
// process (SimGrid's SMPI) it is the actor that runs: current_smpi.cc. Data of a rank outside of
// Process and Location is accessed through of_this_process().
#pragma once

#include "tracer/state/slow_path_reasons.h"

namespace refrain::tracer {

struct Location;

// One more location of the calling rank; both variants build on it.
Location* make_location();

#ifndef REFRAIN_SMPI

// This thread's location once it has one. `__thread`: known to need no initialisation.
extern
    __attribute__((tls_model("initial-exec"), visibility("hidden"))) __thread Location* g_location;
inline Location* known_location() { return g_location; }
// The same for a thread that has none yet.
Location* find_location();

// Whatever memos remember of calls, of all ranks in this process, is stale: see
// Process::handle_changes. Any thread.
void forget_memos();

// The calling thread's location, made on first use. nullptr when recording is over or impossible.
inline Location* current_location() {
  if (has_slow_path_reason(slow_path_reasons::kNotRecording)) [[unlikely]]
    return nullptr;
  return g_location != nullptr ? g_location : find_location();
}

// The rank's only T, made on first use and never destroyed.
template <class T>
T& of_this_process() {
  static T* const only = new T;
  return *only;
}

#else

Location* known_location();
Location* current_location();
void forget_memos();

// Whether `address` is in libsimgrid, whose MPI_Send calls PMPI_Send: ours.
bool is_mpi_itself(const void* address);

void*& slot_of_this_process(const void* type);

template <class T>
T& of_this_process() {
  static const char type = 0;
  void*& slot = slot_of_this_process(&type);
  if (slot == nullptr) slot = new T;
  return *static_cast<T*>(slot);
}

#endif

}  // namespace refrain::tracer
