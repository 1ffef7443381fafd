// The recorder's clock: nanoseconds of CLOCK_MONOTONIC, read from the processor's counter if that
// has a constant rate: the time stamp counter of x86-64 where it is invariant (9 ns a read instead
// of 23), the virtual counter of AArch64, which always is. Under SMPI: nanoseconds of simulated
// time.
#pragma once

#include <cstdint>

#include "mpi_runtime/namespace.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#define REFRAIN_COUNTER 1
#elif defined(__aarch64__)
#define REFRAIN_COUNTER 1
#else
#define REFRAIN_COUNTER 0
#endif

namespace refrain::mpi_runtime {

struct Clock {
  bool use_counter = false;
  double ns_per_tick = 1.0;

  // Decides on the source and calibrates it roughly (0.1 ms); refine() makes the rate exact to
  // about a millionth once some milliseconds have passed, best at the end of MPI_Init.
  void start();
  void refine();

  uint64_t ticks() const {
#if defined(REFRAIN_SMPI)
    return simulated_ns();
#elif REFRAIN_COUNTER
    if (use_counter) return counter();
#endif
    return monotonic_ns();
  }
  // ticks() before a call of the program, with `depth` calls under way.
#if defined(REFRAIN_SMPI)
  uint64_t entry_ticks(int depth) const;
#else
  uint64_t entry_ticks(int) const { return ticks(); }
#endif
  // What has passed on the wall since MPI was up, which was at `init_ticks`.
#if defined(REFRAIN_SMPI)
  uint64_t ran_ns(uint64_t) const { return mpi_is_up_ns_ > 0 ? monotonic_ns() - mpi_is_up_ns_ : 0; }
#else
  uint64_t ran_ns(uint64_t init_ticks) const { return to_ns(ticks() - init_ticks); }
#endif
  uint64_t to_ns(uint64_t ticks) const {
    return use_counter ? static_cast<uint64_t>(static_cast<double>(ticks) * rate()) : ticks;
  }

  uint64_t to_ticks(uint64_t ns) const {
    return use_counter ? static_cast<uint64_t>(static_cast<double>(ns) / rate()) : ns;
  }
  // ns_per_tick, where another thread may be in refine(), of which one at a time is.
  double rate() const {
    double rate = 1.0;
    __atomic_load(&ns_per_tick, &rate, __ATOMIC_RELAXED);
    return rate;
  }

  static uint64_t monotonic_ns();

#if defined(REFRAIN_SMPI)
  static constexpr bool kIsSimulated = true;
#else
  static constexpr bool kIsSimulated = false;
#endif

 private:
#if defined(__x86_64__)
  static uint64_t counter() { return __rdtsc(); }
#elif defined(__aarch64__)
  static uint64_t counter() {
    uint64_t ticks = 0;
    asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
  }
#endif
#if defined(REFRAIN_SMPI)
  static uint64_t simulated_ns();
  uint64_t mpi_is_up_ns_ = 0;  // on the wall
#else
  uint64_t first_ticks_ = 0, first_ns_ = 0;
#endif
};

}  // namespace refrain::mpi_runtime
