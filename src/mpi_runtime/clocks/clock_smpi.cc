// SMPI's ranks live in simulated time.
#include <simgrid/engine.h>
#include <time.h>

#include "mpi_runtime/clocks/clock.h"

// What SMPI's own functions begin and end with. The time that the program computes since the last
// MPI call is simulated by smpi_bench_end().
extern "C" {
void smpi_bench_begin();
void smpi_bench_end();
}

namespace refrain::mpi_runtime {

// Nothing to calibrate.
void Clock::start() {}

void Clock::refine() {
  if (mpi_is_up_ns_ == 0) mpi_is_up_ns_ = monotonic_ns();
}

// From 1 on: 0 stands for no time at all.
uint64_t Clock::simulated_ns() {
  constexpr double kNsPerSecond = 1e9;
  return static_cast<uint64_t>(simgrid_get_clock() * kNsPerSecond + 0.5) + 1;
}

// Left to the MPI call, the computation before it would look like a part of it.
uint64_t Clock::entry_ticks(int depth) const {
  if (mpi_is_up_ns_ != 0 && depth == 1) {
    smpi_bench_end();
    smpi_bench_begin();
  }
  return simulated_ns();
}

uint64_t Clock::monotonic_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

}  // namespace refrain::mpi_runtime
