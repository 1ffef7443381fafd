// Computation vectors of ranks, a piece of time at a time.
//
// Element k of a rank's vector is the time between its calls k and k + 1, in nanoseconds (PHANTOM,
// section 4, formula 3). Vectors of one source have equal lengths: ranks that make other calls are
// in another one (formula 5 has them infinitely far apart).
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"

namespace refrain::similarity {

class VectorSource {
 public:
  virtual ~VectorSource() = default;
  virtual uint32_t vectors() const = 0;
  virtual uint64_t units() const = 0;  // elements of each vector
  // Elements first, first + 1, ... of all vectors, vector after vector. `out` has room for
  // vectors() * count; first + count <= units(). Values stay below 2^53.
  virtual base::Status read(uint64_t first, uint64_t count, std::span<uint64_t> out) = 0;
};

// How many units make a tile of at most 32 MiB; at least 1.
uint64_t units_per_tile(const VectorSource& source);

// Calls visit(first, count, tile) for tile after tile, the tile laid out as read() does. Stops at
// the first failure.
template <typename Visit>
base::Status for_each_tile(VectorSource& source, std::span<uint64_t> room, Visit&& visit) {
  const uint64_t step = units_per_tile(source);
  for (uint64_t first = 0; first < source.units(); first += step) {
    const uint64_t count = step < source.units() - first ? step : source.units() - first;
    const auto tile = room.first(count * source.vectors());
    if (auto status = source.read(first, count, tile); !status.ok()) return status;
    visit(first, count, std::span<const uint64_t>(tile));
  }
  return base::Done{};
}

}  // namespace refrain::similarity
