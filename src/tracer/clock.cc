#include "tracer/clock.h"

#include <time.h>

#include <cstdlib>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace refrain::tracer {

uint64_t Clock::monotonic_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

void Clock::start() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kAdvancedPower = 0x80000007u, kInvariantCounter = 1u << 8;
  use_counter = __get_cpuid(kAdvancedPower, &a, &b, &c, &d) != 0 && (d & kInvariantCounter) != 0;
  // For machines whose counters do not agree, and their systems do not know it.
  const char* const wanted = std::getenv("REFRAIN_CLOCK");
  if (wanted != nullptr && std::strcmp(wanted, "system") == 0) use_counter = false;
  if (!use_counter) return;
  first_ns_ = monotonic_ns();
  first_ticks_ = __rdtsc();
  constexpr uint64_t kRoughCalibrationNs = 100000;
  while (monotonic_ns() - first_ns_ < kRoughCalibrationNs) {
  }
  refine();
#endif
}

void Clock::refine() {
#if defined(__x86_64__)
  if (!use_counter) return;
  const uint64_t ns = monotonic_ns() - first_ns_;
  const uint64_t ticks = __rdtsc() - first_ticks_;
  if (ticks > 0 && ns > 0) ns_per_tick = static_cast<double>(ns) / static_cast<double>(ticks);
#endif
}

}  // namespace refrain::tracer
