// A clock that goes faster than the system's for a second, and slower for the next, the more so the
// higher the rank. After two seconds it is where it was.
#include "other_clock.h"

enum { kBendNs = 1000000000, kMillionths = 8000 };

int64_t other_clock(int64_t ns, long rank) {
  const int64_t phase = ns % (2 * kBendNs);
  const int64_t up = phase < kBendNs ? phase : 2 * kBendNs - phase;
  return ns + up / 1000 * kMillionths / 1000 * rank;
}
