// The resolution of a histogram of durations in the file: widths and counts of its buckets.
// docs/format.md, Durations.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace refrain::format {

// How fine statistics are kept where there are too many for the room that they may take.
struct StatPrecision {
  // Of the ten bits of a time code's mantissa, for the numbers that nobody's answer hangs on.
  unsigned mantissa_bits = 10;
  unsigned grain = 0;     // of histograms; 0 is the finest
  bool is_quick = false;  // whether they are coded as quick_model.h says
  bool operator==(const StatPrecision&) const = default;
};
inline constexpr unsigned kLeastMantissaBits = 3, kMostMantissaBits = 10, kMostGrain = 6;
// In the file the bits of the mantissa have this added where they are coded quickly.
inline constexpr unsigned kQuickBit = 0x80;

// The octaves that a bucket is wide: a few calls do not fill as many buckets as many.
constexpr unsigned octaves_for(uint64_t calls, unsigned grain) {
  // Of grain 4 and above all buckets are wide; in the last one there is a single bucket.
  constexpr unsigned kAllOctaves = 64;
  if (grain < 2) return 1;
  if (grain >= kMostGrain) return kAllOctaves;
  if (grain == 5) return calls < 512 ? 6 : 3;
  if (grain == 4) return calls < 512 ? 3 : 2;
  const uint64_t few = grain == 2 ? 32 : 512;
  return calls < few ? 3 : calls < 16 * few ? 2 : 1;
}

// The counts that a bucket may have: 0, 1, 2 and so on, then in steps. At grain 0 neither the one
// below nor the one above a count is further from it than 4.5 %; else the nearest is no further
// than its square root, or 4.5 % where that is more.
class CountLevels {
 public:
  static constexpr size_t kMost = 1024;

  explicit constexpr CountLevels(bool is_fine) {
    uint64_t count = 0;
    while (size_ < kMost) {
      counts_[size_++] = count;
      const uint64_t parts = is_fine ? kFineParts : 2 * kFineParts;
      // Without an overflow.
      uint64_t step = (count >> 10) * parts + ((count & 1023) * parts >> 10) + 1;
      if (!is_fine)
        step =
            std::max({step, root(4 * std::min(count, kLastRoot)), count < 2 ? uint64_t{1} : kTwo});
      if (count > UINT64_MAX - step) break;
      count += step;
    }
  }

  size_t size() const { return size_; }
  uint64_t operator[](size_t level) const { return counts_[level]; }
  // The one that is not above `count`.
  size_t below(uint64_t count) const {
    return static_cast<size_t>(
        std::upper_bound(counts_.begin(), counts_.begin() + static_cast<ptrdiff_t>(size_), count) -
        counts_.begin() - 1);
  }
  // The nearest, of two the lower one.
  size_t nearest(uint64_t count) const {
    const size_t i = below(count);
    return i + 1 < size_ && counts_[i + 1] - count < count - counts_[i] ? i + 1 : i;
  }
  // Of a quarter of `quarters` calls, in quarters of a level.
  size_t quarter_level(uint64_t quarters) const {
    const size_t i = below(quarters / 4);
    if (i + 1 >= size_) return 4 * i;
    const uint64_t step = counts_[i + 1] - counts_[i];
    return 4 * i + static_cast<size_t>((quarters - 4 * counts_[i]) / step);
  }

 private:
  static constexpr uint64_t kFineParts = 46, kTwo = 2, kLastRoot = 1024;
  static constexpr uint64_t root(uint64_t v) {
    uint64_t r = 0;
    while ((r + 1) * (r + 1) <= v) ++r;
    return r;
  }

  size_t size_ = 0;
  std::array<uint64_t, kMost> counts_{};
};

// Grain 0, and the others.
inline constexpr CountLevels kFineLevels(true), kRootLevels(false);
constexpr const CountLevels& levels_of(unsigned grain) {
  return grain == 0 ? kFineLevels : kRootLevels;
}

}  // namespace refrain::format
