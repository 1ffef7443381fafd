// What a fit does once the curves and their pieces are known: the formulas of docs/calibrate.md,
// backwards.
//
// Units: ns, bytes. Threads: any.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/calibrate/pieces.h"
#include "sim/machine/machine.h"

namespace refrain::sim {

// What is fitted: curves, by size.
struct Curves {
  Curve trips, sends, receives, lates, intervals, exchanges, overlaps, takings;
  std::array<Curve*, 8> all() {
    return {&trips, &sends, &receives, &lates, &intervals, &exchanges, &overlaps, &takings};
  }
};

// The numbers of a range of sizes.
struct Range {
  double latency = 0, send = 0, receive = 0, gap = 0, gap_per_byte = 0, cpu_per_byte = 0;
  double handshake = 0, crossing = 0, crossing_per_byte = 0;
  double gap_high = -1;  // the gap is hidden, and at most so large; -1: it shows
};

struct Solution {
  std::vector<Range> ranges;
  double copy = 0, copy_per_byte = 0, overlap = 0;
};

// The pieces of sizes up to the eager limit, acknowledged ones last, then those above.
struct Pieces {
  std::vector<std::pair<double, double>> sizes;  // smallest and largest of each
  std::vector<uint64_t> up_to;
  size_t eager = 0;                                    // so many of them
  size_t unacknowledged = 0;                           // ... and of these
  std::vector<std::vector<bool>> shows_gap;            // points of the intervals
  std::vector<bool> waits_for_processor, goes_beside;  // of pieces above the limit
  std::vector<bool> shows_crossing;
};

// What an exchange takes longer than a message alone, with its acknowledgement if there is one, for
// sizes from `low` to `high`.
Curve crossings(const Curves& curves, double low, double high);

// Where errors of points are less than the curve is off its line, they grow.
void grow_errors(Curve& curve, const std::vector<std::pair<double, double>>& pieces);

// Of messages that wait, in a range of sizes: whether their data wait for the sender's processor,
// not for the answer.
bool processor_is_later(const Curves& curves, double low, double high);

// Whether transfers were through when the ranks had computed: then the wait for a receive shows
// what the receiver's processor does for a message that waited.
bool goes_on_beside(const Curve& overlaps, const Line& trip);

Solution solve(const Curves& curves, const Pieces& pieces);

// A value, and the 95 % in the middle of what it was in `drawn`.
Parameter with_interval(double value, std::vector<double> drawn);

}  // namespace refrain::sim
