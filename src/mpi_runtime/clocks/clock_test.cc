#include "mpi_runtime/clocks/clock.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>

#include "mpi_runtime/clocks/clock_trips.h"

namespace refrain::mpi_runtime {
namespace {

// What the clock says of 20 ms, relative to the system's clock.
double measured_share(const Clock& clock) {
  constexpr uint64_t kWaitNs = 20000000;
  const uint64_t ns = Clock::monotonic_ns();
  const uint64_t ticks = clock.ticks();
  while (Clock::monotonic_ns() - ns < kWaitNs) {
  }
  const auto measured = static_cast<double>(clock.to_ns(clock.ticks() - ticks));
  return measured / static_cast<double>(Clock::monotonic_ns() - ns);
}

// The best of some: another process may come between two readings.
double best_share(const Clock& clock) {
  double best = 0;
  for (int i = 0; i < 20; ++i) {
    const double share = measured_share(clock);
    if (std::fabs(share - 1) < std::fabs(best - 1)) best = share;
  }
  return best;
}

TEST(Clock, counts_nanoseconds_once_refined) {
  unsetenv("REFRAIN_CLOCK");
  Clock clock;
  clock.start();
  measured_share(clock);
  clock.refine();
  EXPECT_NEAR(best_share(clock), 1, 1e-3);
}

TEST(Clock, never_goes_back) {
  Clock clock;
  clock.start();
  uint64_t last = clock.ticks();
  for (int i = 0; i < 100000; ++i) {
    const uint64_t now = clock.ticks();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(Clock, is_the_systems_when_asked) {
  setenv("REFRAIN_CLOCK", "system", 1);
  Clock clock;
  clock.start();
  unsetenv("REFRAIN_CLOCK");
  EXPECT_FALSE(clock.use_counter);
  EXPECT_EQ(clock.to_ns(17), 17u);
  EXPECT_NEAR(best_share(clock), 1, 1e-3);
}

// Answers at once, from a clock that is so far ahead, and takes at least 2 ms to come back, as on a
// busy machine: half-way is 1 ms off.
int64_t asked(int64_t ahead_ns, bool may_be_ours) {
  int64_t ahead = -1;
  const auto trip = [&](bool, int64_t* theirs) {
    *theirs = monotonic_now() + ahead_ns;
    usleep(2000);
    return true;
  };
  EXPECT_TRUE(ask_clock(trip, may_be_ours, &ahead));
  return ahead;
}

TEST(ClockTrips, one_system_has_one_clock_however_long_a_trip_takes) {
  EXPECT_EQ(asked(0, true), 0);
  EXPECT_LE(asked(0, false), -1000000);
}

TEST(ClockTrips, a_clock_that_disagrees_is_not_ours) {
  constexpr int64_t kFar = 7'000'000'000;
  const int64_t ahead = asked(kFar, true);
  EXPECT_GT(ahead, 0);
  EXPECT_LE(ahead, kFar - 1000000);
}

}  // namespace
}  // namespace refrain::mpi_runtime
