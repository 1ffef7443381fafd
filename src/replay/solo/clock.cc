// MPI_Wtime and MPI_Wtick, and their names in Fortran: no calls of the trace. The log has what
// MPI_Wtime returned.

#include <mpi.h>
#include <time.h>

#include "replay/solo/player.h"

namespace refrain::replay::solo {

double Player::wtime() {
  const std::scoped_lock lock(mutex_);
  if (!threads_.empty() && messages_.is_open()) {
    Thread* const thread = known_thread();
    if (thread != nullptr)
      if (const auto logged = messages_.wtime(thread->location, thread->answered)) return *logged;
  }
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

namespace {
constexpr double kTick = 1e-9;
}

}  // namespace refrain::replay::solo

#define REFRAIN_EXPORT __attribute__((visibility("default")))
using refrain::replay::solo::Player;

extern "C" {

REFRAIN_EXPORT double MPI_Wtime() { return Player::get().wtime(); }
REFRAIN_EXPORT double PMPI_Wtime() { return Player::get().wtime(); }
REFRAIN_EXPORT double MPI_Wtick() { return refrain::replay::solo::kTick; }
REFRAIN_EXPORT double PMPI_Wtick() { return refrain::replay::solo::kTick; }

// The names of all Fortran compilers.
REFRAIN_EXPORT double mpi_wtime_() { return Player::get().wtime(); }
REFRAIN_EXPORT double mpi_wtime() { return Player::get().wtime(); }
REFRAIN_EXPORT double mpi_wtime__() { return Player::get().wtime(); }
REFRAIN_EXPORT double MPI_WTIME() { return Player::get().wtime(); }
REFRAIN_EXPORT double mpi_wtime_f08_() { return Player::get().wtime(); }
REFRAIN_EXPORT double pmpi_wtime_() { return Player::get().wtime(); }
REFRAIN_EXPORT double mpi_wtick_() { return refrain::replay::solo::kTick; }
REFRAIN_EXPORT double mpi_wtick() { return refrain::replay::solo::kTick; }
REFRAIN_EXPORT double mpi_wtick__() { return refrain::replay::solo::kTick; }
REFRAIN_EXPORT double MPI_WTICK() { return refrain::replay::solo::kTick; }
REFRAIN_EXPORT double mpi_wtick_f08_() { return refrain::replay::solo::kTick; }

// MPICH's Fortran layer marks its generalised requests, inside of their objects. Ours have no such
// place, and the functions that were handed over are those of Fortran.
REFRAIN_EXPORT void MPII_Grequest_set_lang_f77(MPI_Request request) {
  Player::get().mark_fortran(refrain::replay::solo::key_of(request));
}

}  // extern "C"
