#include "format/totals.h"

#include <algorithm>

namespace refrain::format {

uint32_t CodeScale::at(uint32_t place) const {
  if (is_exact()) return least_ + std::min(place - 1, range_);
  if (place <= 1) return least_;
  if (place >= places_) return least_ + range_;
  // The middle of step number place - 2, rounded; never one of the ends, as a step is more than 1.
  const uint64_t halves = uint64_t{range_} * (2 * place - 3);
  return least_ + static_cast<uint32_t>((halves + steps()) / (2 * steps()));
}

uint32_t CodeScale::place(uint32_t code) const {
  const uint32_t above = code - least_;
  if (is_exact() || above == 0) return 1 + above;
  if (above == range_) return places_;
  // The step it is in, or the one on its other side when rounding moved a middle.
  const auto step = static_cast<uint32_t>(uint64_t{above} * steps() / range_);
  const auto distance = [&](uint32_t place) {
    const uint32_t middle = at(place);
    return middle < code ? code - middle : middle - code;
  };
  const uint32_t best = step + 2, other = code < at(best) ? best - 1 : best + 1;
  return other >= 2 && other < places_ && distance(other) < distance(best) ? other : best;
}

bool ScaleBits::is_good() const {
  const auto fits = [](unsigned bits) { return bits >= kMinScaleBits && bits <= kMaxScaleBits; };
  return fits(span) && fits(memory) && span + memory <= kSharedTotalsBits && fits(time());
}

}  // namespace refrain::format
