#include "mpi_runtime/clocks/clock.h"

#include <time.h>

#include <cstring>

#include "options/environment.h"

#if defined(__x86_64__)
#include <cpuid.h>
#if __has_include(<sys/platform/x86.h>)
#include <dlfcn.h>
// The header is C, and clang takes no word of C in C++.
#ifdef __clang__
#define _Bool bool
#endif
#include <sys/platform/x86.h>

#undef _Bool
#define REFRAIN_KNOWS_LEAVES
#endif
#endif

namespace refrain::mpi_runtime {

uint64_t Clock::monotonic_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

namespace {

// Whether the processor's counter runs at one rate, whatever the processor does. The C library has
// asked the processor already; in a virtual machine that takes tens of microseconds each time.
[[maybe_unused]] bool is_counter_even() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kAdvancedPower = 0x80000007u, kInvariantCounter = 1u << 8;
#ifdef REFRAIN_KNOWS_LEAVES
  if (const auto leaf_of = reinterpret_cast<decltype(&__x86_get_cpuid_feature_leaf)>(
          dlsym(RTLD_DEFAULT, "__x86_get_cpuid_feature_leaf"));
      leaf_of != nullptr) {
    const cpuid_feature* const leaf = leaf_of(CPUID_INDEX_80000007);
    if (leaf != nullptr && (leaf->cpuid_array[3] & kInvariantCounter) != 0) return true;
  }
#endif
  return __get_cpuid(kAdvancedPower, &a, &b, &c, &d) != 0 && (d & kInvariantCounter) != 0;
#else
  return true;  // AArch64: the architecture promises it
#endif
}

}  // namespace

void Clock::start() {
#if REFRAIN_COUNTER
  use_counter = is_counter_even();
  // For machines whose counters do not agree, and their systems do not know it.
  if (std::strcmp(options::text_of(options::Variable::kClock), "system") == 0) use_counter = false;
  if (!use_counter) return;
  first_ns_ = monotonic_ns();
  first_ticks_ = counter();
  // Within a few per cent, for what comes before refine() at the end of MPI_Init.
  constexpr uint64_t kRoughCalibrationNs = 5000;
  while (monotonic_ns() - first_ns_ < kRoughCalibrationNs) {
  }
  refine();
#endif
}

void Clock::refine() {
#if REFRAIN_COUNTER
  if (!use_counter) return;
  const uint64_t ns = monotonic_ns() - first_ns_;
  const uint64_t ticks = counter() - first_ticks_;
  if (ticks == 0 || ns == 0) return;
  const double rate = static_cast<double>(ns) / static_cast<double>(ticks);
  __atomic_store(&ns_per_tick, &rate, __ATOMIC_RELAXED);
#endif
}

}  // namespace refrain::mpi_runtime
