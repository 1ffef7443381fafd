// A rank that waits sleeps, longer the longer it has waited. MPI libraries wait by polling: if
// ranks share cores, waiting ranks would take the core from the rank that works.
#pragma once

#include <mpi.h>
#include <time.h>

#include <algorithm>
#include <cstdint>

#include "base/no_cancel.h"
#include "mpi_runtime/clocks/clock.h"
#include "mpi_runtime/namespace.h"
#include "real_functions.h"

namespace refrain::mpi_runtime {

// Before the first sleep: where cores are free, that is enough.
inline constexpr uint64_t kPollBeforeSleepNs = 20'000;
inline constexpr uint64_t kMinSleepNs = 20'000, kUsualSleepNs = 400'000, kMaxSleepNs = 2'000'000;

// A collective takes several rounds, and each waits for the rank that sleeps the longest. So sleeps
// stay short for some milliseconds, in which most waits end; behind that they are a small part of
// what was waited already, as waits are long where many ranks share a core, and each wake takes it
// from the rank that works.
inline uint64_t next_sleep_ns(uint64_t waited_ns) {
  const uint64_t usual = std::min(waited_ns / 2, kUsualSleepNs);
  return std::clamp(std::max(usual, waited_ns / 32), kMinSleepNs, kMaxSleepNs);
}

inline void sleep_ns(uint64_t ns) {
  const base::NoCancel no_cancel;
  timespec t{};
  t.tv_nsec = static_cast<long>(ns);
  nanosleep(&t, nullptr);  // a signal may end it early
}

inline int wait_patiently(MPI_Request& request) {
  const auto test = REFRAIN_REAL(PMPI_Test);
  const uint64_t begin = Clock::monotonic_ns();
  for (;;) {
    int done = 0;
    const int rc = test(&request, &done, MPI_STATUS_IGNORE);
    if (rc != MPI_SUCCESS || done != 0) return rc;
    const uint64_t waited = Clock::monotonic_ns() - begin;
    if (waited > kPollBeforeSleepNs) sleep_ns(next_sleep_ns(waited));
  }
}

// Starts what `start` says, and waits. False: MPI failed.
template <class Start>
bool patiently(Start start) {
  MPI_Request request = MPI_REQUEST_NULL;
  return start(&request) == MPI_SUCCESS && wait_patiently(request) == MPI_SUCCESS;
}

// As MPI_Comm_dup, whose several rounds make ranks that share cores wait for each other's time
// slices.
inline bool dup_patiently(MPI_Comm comm, MPI_Comm* made) {
  return patiently(
      [&](MPI_Request* request) { return REFRAIN_REAL(PMPI_Comm_idup)(comm, made, request); });
}

}  // namespace refrain::mpi_runtime
