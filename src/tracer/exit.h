// What is left to do when the process ends on its own feet.
#pragma once

#include <atomic>

namespace refrain::tracer {

// MPI began by a call that came through a wrapper.
extern std::atomic<bool> g_mpi_was_seen;

}  // namespace refrain::tracer
