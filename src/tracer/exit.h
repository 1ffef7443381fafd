// What is left to do when the process ends on its own feet.
#pragma once

#include <atomic>

namespace refrain::tracer {

// MPI began by a call that came through a wrapper.
extern std::atomic<bool> g_mpi_was_seen;

// Rank 0, as the launcher says it: for what is said before MPI can be asked. True without one.
bool is_first_rank();

}  // namespace refrain::tracer
