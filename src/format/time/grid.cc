#include "format/time/grid.h"

#include <algorithm>
#include <bit>

#include "format/time/spec.h"

namespace refrain::format {

namespace {

__extension__ using Wide = unsigned __int128;

uint64_t part_of(uint64_t ns, uint32_t step) {
  return static_cast<uint64_t>(Wide{ns} * step / TimeSpec::kOne);
}

}  // namespace

Grid::Grid(uint32_t step) : step_(step) {
  for (uint64_t ns = 0;; ns += std::max<uint64_t>(1, part_of(ns, step))) {
    points_.push_back(ns);
    if (ns >= kMaxTimeNs) break;
  }
  size_t k = 0;
  for (size_t width = 0; width < first_.size(); ++width) {
    while (k < points_.size() && static_cast<size_t>(std::bit_width(points_[k])) < width) ++k;
    first_[width] = static_cast<uint32_t>(std::min(k, points_.size() - 1));
  }
  index_bits_ = static_cast<unsigned>(std::bit_width(points_.size()));
}

size_t Grid::nearest(uint64_t ns) const {
  const auto width = static_cast<size_t>(std::bit_width(ns));
  const auto begin = points_.begin() + first_[width];
  const auto end = points_.begin() + first_[std::min<size_t>(width + 1, 64)] + 1;
  const auto above = std::lower_bound(begin, end, ns);
  if (above == end) return points_.size() - 1;
  const auto k = static_cast<size_t>(above - points_.begin());
  if (k > 0 && ns - points_[k - 1] <= points_[k] - ns) return k - 1;
  return k;
}

uint32_t step_for(uint32_t bound) {
  // (1 + eps) / (1 - eps) lies between two neighbours; a sixth less leaves the encoder a choice
  // nearly everywhere, and was best on the traces of docs/decisions/.
  const uint64_t step = uint64_t{2} * TimeSpec::kOne * bound / (TimeSpec::kOne - bound);
  return static_cast<uint32_t>(std::clamp<uint64_t>(step * 5 / 6, Grid::kMinStep, Grid::kMaxStep));
}

}  // namespace refrain::format
