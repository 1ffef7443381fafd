// A clock that is off by so many seconds per rank, and runs faster by so many millionths, as if it
// were on another machine.
#include "other_clock.h"

enum { kSecondsPerRank = 7, kMillionthsPerRank = 300 };

int64_t other_clock(int64_t ns, long rank) {
  return ns + rank * kSecondsPerRank * INT64_C(1000000000) +
         ns / 1000000 * rank * kMillionthsPerRank;
}
