// The grid points that the gaps or durations of one signature had recently. An error bound allows
// several points; the most frequent one has the highest probability and takes the fewest bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace refrain::format {

class UsedPoints {
 public:
  // The one used most, of late, that `is_good`; `otherwise` where there is none.
  template <class IsGood>
  size_t most_used(IsGood is_good, size_t otherwise) const {
    uint32_t most = 0;
    for (const Point& p : points_) {
      if (p.uses <= most || !is_good(p.index)) continue;
      most = p.uses;
      otherwise = p.index;
    }
    return otherwise;
  }
  void use(size_t index) {
    Point* place = &points_[0];
    for (Point& p : points_) {
      p.uses -= p.uses / kMemory;
      if (p.index == index || (place->index != index && p.uses < place->uses)) place = &p;
    }
    if (place->index != index) *place = {static_cast<uint32_t>(index), 0};
    place->uses += kOne;
  }

 private:
  static constexpr uint32_t kMemory = 32, kOne = 1024;
  struct Point {
    uint32_t index = 0;
    uint32_t uses = 0;  // fades; kOne for the last one
  };
  std::array<Point, 6> points_;
};

}  // namespace refrain::format
