// The offset of the clock of another process: taken from the shortest of several round trips,
// because its answer was sent at about half of the trip.
#pragma once

#include <cstdint>

#include "mpi_runtime/clocks/clock.h"
#include "mpi_runtime/namespace.h"

namespace refrain::mpi_runtime {

inline int64_t monotonic_now() { return static_cast<int64_t>(Clock::monotonic_ns()); }

// `trip(is_last, &theirs)` asks for the other clock, and says whether it was told. False, and
// `ahead` as good as was known until then: one of them was not. `may_be_ours`: the other process
// runs on the same system. If no trip contradicts that its clock is ours, it is, and 0 ahead: on a
// busy machine even the shortest trip takes milliseconds.
template <class Trip>
bool ask_clock(Trip trip, bool may_be_ours, int64_t* ahead) {
  // So many at least, and until so many in a row were no shorter than the shortest.
  constexpr int kMinTrips = 10, kMaxTrips = 60, kNoShorter = 8;
  int64_t shortest = INT64_MAX;
  bool is_last = false;
  for (int trips = 0, no_shorter = 0; !is_last; ++trips) {
    is_last = trips >= kMinTrips && (trips >= kMaxTrips || no_shorter >= kNoShorter);
    int64_t theirs = 0;
    const int64_t begin = monotonic_now();
    if (!trip(is_last, &theirs)) return false;
    const int64_t end = monotonic_now(), took = end - begin;
    may_be_ours = may_be_ours && begin <= theirs && theirs <= end;
    ++no_shorter;
    if (took >= shortest) continue;
    shortest = took;
    *ahead = theirs - (begin + took / 2);
    no_shorter = 0;
  }
  if (may_be_ours) *ahead = 0;
  return true;
}

}  // namespace refrain::mpi_runtime
