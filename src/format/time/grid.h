// The times that a block with a bound can say at no extra cost: 0, 1, 2, ... and from where that is
// finer than need be each about 1 + step higher than the one before. docs/format.md, Time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace refrain::format {

// Times, gaps and durations are below this many ns (146 years).
inline constexpr uint64_t kMaxTimeNs = uint64_t{1} << 62;

class Grid {
 public:
  // In millionths.
  static constexpr uint32_t kMinStep = 1000, kMaxStep = 4'000'000;

  explicit Grid(uint32_t step);

  uint32_t step() const { return step_; }
  size_t size() const { return points_.size(); }
  // points_[size() - 1] is the first that is at least kMaxTimeNs.
  uint64_t at(size_t k) const { return points_[k]; }
  // The point nearest to `ns`, the lower one of two.
  size_t nearest(uint64_t ns) const;
  unsigned index_bits() const { return index_bits_; }  // of size(): an index + 1 fits

 private:
  uint32_t step_;
  unsigned index_bits_ = 0;
  std::vector<uint64_t> points_;
  std::array<uint32_t, 65> first_{};  // by bit width: the first point that has it, or more
};

// The step for a bound (both in millionths): a grid with no more than that between its points has
// one within the bound of any time, apart from rounding.
uint32_t step_for(uint32_t bound);

}  // namespace refrain::format
