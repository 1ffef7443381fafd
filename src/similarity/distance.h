// Distances of two vectors of measurements: the methods of Mohror, section 4.3.1.
//
// Vectors of one call have the same length, and no values that are not numbers. Nothing allocates.
#pragma once

#include <cstddef>
#include <span>

#include "similarity/method.h"

namespace refrain::similarity {

using Vector = std::span<const double>;

// The largest |x - y| / max(x, y) of a pair (equation 1); 0 where both are 0.
double relative_difference(Vector a, Vector b);
// The largest |x - y| of a pair: the absolute difference (4.3.1.2) and the Chebyshev distance.
double largest_difference(Vector a, Vector b);
// Minkowski distances (equation 2) with m = 1 and 2.
double manhattan(Vector a, Vector b);
double euclidean(Vector a, Vector b);
double largest_value(Vector a);

// The wavelet transforms of 4.3.1.4, of the vector (0, stamps..., 0, ..., 0) with the next power of
// two of elements: trends before fluctuations, the trends transformed again until one is left. A
// trend is (x + y) / 2, a fluctuation (y - x) / 2: with the fluctuation's sign the other way round,
// the largest element of the thesis's example would not be its 17.625. The Haar transform has the
// same values times the square root of 2 in each step, which makes it orthonormal: it keeps the
// Euclidean distance, as the thesis says. (Its numbers for the second step show the factor once.)
// stamp_count is at least 1.
size_t wavelet_size(size_t stamp_count);
// `out` has room for wavelet_size(stamps.size()) values and, behind them, half as many to work in.
void wavelet(Vector stamps, bool haar, double* out);

// Whether two segments match under one of the methods that have a distance (all but iter_k,
// iter_avg and auto), seen as vectors of measurements or, for the wavelets, transformed ones. Stops
// at the first element that decides. `max_a` and `max_b` are largest_value() of the vectors.
//
// Equal to the threshold is a match. The threshold is multiplied with the largest value of the pair
// for the Minkowski distances and the wavelets.
bool vectors_match(Method method, double threshold, Vector a, double max_a, Vector b, double max_b);

}  // namespace refrain::similarity
