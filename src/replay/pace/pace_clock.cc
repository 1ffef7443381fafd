#include "replay/pace/pace_clock.h"

#include <time.h>

namespace refrain::replay {
namespace {

uint64_t system_now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

void sleep_until(uint64_t ns) {
  timespec t{};
  t.tv_sec = static_cast<time_t>(ns / 1000000000u);
  t.tv_nsec = static_cast<long>(ns % 1000000000u);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr) != 0) {
  }
}

constexpr uint64_t kShortest = 60000;  // ns: less than that is not worth a system call

}  // namespace

uint64_t PaceClock::now_ns() { return system_now_ns(); }

void PaceClock::pass_until(uint64_t ns, Compute how) {
  if (how == Compute::kSleep && ns > system_now_ns() + kShortest) sleep_until(ns - kShortest);
  while (system_now_ns() < ns) {
  }
}

}  // namespace refrain::replay
