#include "similarity/vectors/distance_matrix.h"

#include <algorithm>
#include <cstdlib>

namespace refrain::similarity {
namespace {

constexpr uint64_t kTileBytes = uint64_t{32} << 20;

// Four vectors are compared with one at a time, so that it is loaded once; blocks of so many stay
// in the second-level cache.
constexpr uint32_t kBlock = 32;
constexpr uint64_t kStrip = 512;  // units of a block

struct Four {
  double sum[4];
};

// Sums of differences below 2^32 / count fit into 32 bits, which is what makes it quick.
inline __attribute__((always_inline)) Four manhattan_of(
    const int32_t* __restrict x, const int32_t* __restrict y0, const int32_t* __restrict y1,
    const int32_t* __restrict y2, const int32_t* __restrict y3, uint64_t count, uint64_t at_once) {
  Four out{};
  for (uint64_t first = 0; first < count; first += at_once) {
    const uint64_t end = std::min(count, first + at_once);
    uint32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (uint64_t i = first; i < end; ++i) {
      s0 += static_cast<uint32_t>(std::abs(x[i] - y0[i]));
      s1 += static_cast<uint32_t>(std::abs(x[i] - y1[i]));
      s2 += static_cast<uint32_t>(std::abs(x[i] - y2[i]));
      s3 += static_cast<uint32_t>(std::abs(x[i] - y3[i]));
    }
    out.sum[0] += s0, out.sum[1] += s1, out.sum[2] += s2, out.sum[3] += s3;
  }
  return out;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) Four manhattan_avx2(const int32_t* x, const int32_t* y0,
                                                    const int32_t* y1, const int32_t* y2,
                                                    const int32_t* y3, uint64_t count,
                                                    uint64_t at_once) {
  return manhattan_of(x, y0, y1, y2, y3, count, at_once);
}
#endif

Four manhattan_plain(const int32_t* x, const int32_t* y0, const int32_t* y1, const int32_t* y2,
                     const int32_t* y3, uint64_t count, uint64_t at_once) {
  return manhattan_of(x, y0, y1, y2, y3, count, at_once);
}

using Manhattan = Four (*)(const int32_t*, const int32_t*, const int32_t*, const int32_t*,
                           const int32_t*, uint64_t, uint64_t);

Manhattan best_manhattan() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return manhattan_avx2;
#endif
  return manhattan_plain;
}

// Of long units, and of squares: a number at a time.
double slow_distance(const uint64_t* x, const uint64_t* y, uint64_t count, VectorDistance how) {
  double sum = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const auto d = static_cast<double>(std::max(x[i], y[i]) - std::min(x[i], y[i]));
    sum += how == VectorDistance::kManhattan ? d : d * d;
  }
  return sum;
}

// Adds the distances within one tile to all pairs.
class TileAdder {
 public:
  TileAdder(PairMatrix& out, VectorDistance how) : out_(out), how_(how) {}

  void add(std::span<const uint64_t> tile, uint64_t count) {
    const uint64_t most = tile.empty() ? 0 : *std::max_element(tile.begin(), tile.end());
    if (how_ == VectorDistance::kManhattan && most < uint64_t{1} << 28)
      add_short(tile, count, most);
    else
      add_long(tile, count);
  }

 private:
  void add_long(std::span<const uint64_t> tile, uint64_t count) {
    for (uint32_t i = 0; i < out_.size(); ++i)
      for (uint32_t j = i + 1; j < out_.size(); ++j)
        out_.at(i, j) += slow_distance(&tile[i * count], &tile[j * count], count, how_);
  }

  void add_short(std::span<const uint64_t> tile, uint64_t count, uint64_t most) {
    const uint64_t at_once = std::min(count, (uint64_t{1} << 32) / (most + 1));
    const uint32_t n = out_.size();
    short_.assign(tile.begin(), tile.end());
    for (uint64_t strip = 0; strip < count; strip += kStrip)
      for (uint32_t i = 0; i < n; i += kBlock)
        for (uint32_t j = i; j < n; j += kBlock)
          add_blocks(i, j, count, strip, std::min(kStrip, count - strip), at_once);
  }

  void add_blocks(uint32_t from_i, uint32_t from_j, uint64_t count, uint64_t strip, uint64_t units,
                  uint64_t at_once) {
    const uint32_t n = out_.size();
    const auto row = [&](uint32_t v) { return short_.data() + size_t{v} * count + strip; };
    for (uint32_t i = from_i; i < std::min(n, from_i + kBlock); ++i)
      for (uint32_t j = std::max(from_j, i + 1); j < std::min(n, from_j + kBlock); j += 4) {
        const uint32_t last = std::min(n, from_j + kBlock) - 1;
        const Four four =
            manhattan_(row(i), row(j), row(std::min(j + 1, last)), row(std::min(j + 2, last)),
                       row(std::min(j + 3, last)), units, at_once);
        for (uint32_t k = 0; k < 4 && j + k <= last; ++k) out_.at(i, j + k) += four.sum[k];
      }
  }

  PairMatrix& out_;
  VectorDistance how_;
  Manhattan manhattan_ = best_manhattan();
  std::vector<int32_t> short_;
};

}  // namespace

uint64_t units_per_tile(const VectorSource& source) {
  const uint64_t bytes = 8 * std::max<uint64_t>(source.vectors(), 1);
  return std::clamp<uint64_t>(kTileBytes / bytes, 1, std::max<uint64_t>(source.units(), 1));
}

base::Result<PairMatrix> distance_matrix(VectorSource& source, VectorDistance distance,
                                         const VectorProgress& progress) {
  PairMatrix out(source.vectors());
  TileAdder adder(out, distance);
  std::vector<uint64_t> room(units_per_tile(source) * source.vectors());
  const auto status = for_each_tile(
      source, room, [&](uint64_t first, uint64_t count, std::span<const uint64_t> tile) {
        adder.add(tile, count);
        if (progress)
          progress(static_cast<double>(first + count) / static_cast<double>(source.units()));
      });
  if (!status.ok()) return status.error();
  return out;
}

}  // namespace refrain::similarity
