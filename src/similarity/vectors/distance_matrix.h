// Distances of all pairs of vectors.
//
// Memory: 8 bytes a pair and a tile (4096 vectors: 64 + 48 MiB), however long the vectors are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "similarity/vectors/vector_source.h"

namespace refrain::similarity {

// Of n things: one number for each pair, the diagonal left out.
class PairMatrix {
 public:
  explicit PairMatrix(uint32_t n) : n_(n), values_(size_t{n} * (n - (n > 0)) / 2) {}
  uint32_t size() const { return n_; }
  // i != j, both below size().
  double& at(uint32_t i, uint32_t j) { return values_[place(i, j)]; }
  double at(uint32_t i, uint32_t j) const { return values_[place(i, j)]; }

 private:
  size_t place(size_t i, size_t j) const {
    if (i > j) std::swap(i, j);
    return i * (2 * size_t{n_} - i - 1) / 2 + (j - i - 1);
  }
  uint32_t n_;
  std::vector<double> values_;
};

enum class VectorDistance : uint8_t {
  kManhattan,         // sum of |x - y| in ns (PHANTOM, formula 5)
  kSquaredEuclidean,  // sum of (x - y)^2 in ns^2
};

// Part of the work that is done, from 0 to 1.
using VectorProgress = std::function<void(double done)>;

base::Result<PairMatrix> distance_matrix(VectorSource& source, VectorDistance distance,
                                         const VectorProgress& progress = {});

}  // namespace refrain::similarity
