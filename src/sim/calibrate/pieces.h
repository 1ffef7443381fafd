// Where the costs of messages bend: sizes are cut into ranges in each of which every measured curve
// is a straight line.
//
// Cuts are those that make the sum of misfits and of a price for each piece least (dynamic
// programming over all cuts; the price is that of the Bayesian information criterion, G. Schwarz,
// Annals of Statistics 1978). Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/calibrate/robust.h"

namespace refrain::sim {

// One curve: its points by ascending x.
using Curve = std::vector<Point>;

struct PieceOptions {
  size_t least_sizes = 4;  // of a piece, where there are as many
  size_t most_pieces = 8;
  double tolerance =
      0.002;  // a curve has errors of at least this share of y: real ones are not straight
};

// Pieces [first, last) of `sizes`, which ascend; each x of the curves is one of them.
std::vector<std::pair<size_t, size_t>> cut_in_pieces(const std::vector<double>& sizes,
                                                     const std::vector<Curve>& curves,
                                                     const PieceOptions& options);

// The part of a curve with x from `low` to `high`.
Curve part_of(const Curve& curve, double low, double high);

// Up to which size a line holds whose points end at `high`, before the next one's, whose points
// begin at `next_low`: where both meet, if that is in between.
uint64_t end_of_line(const Line& one, double high, const Line& next, double next_low);

}  // namespace refrain::sim
