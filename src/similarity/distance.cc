#include "similarity/distance.h"

#include <algorithm>
#include <cmath>

namespace refrain::similarity {
namespace {

constexpr double kHalf = 0.5;
constexpr double kHaar = 0.70710678118654752440;  // 1 / sqrt(2)
// Elements between two looks at the sum: a look at each would cost more than the elements.
constexpr size_t kBlock = 8;

double relative(double x, double y) {
  const double difference = std::fabs(x - y);
  // Negative stamps do not happen but in events that begin before their segment.
  return difference == 0 ? 0 : difference / std::max(std::fabs(x), std::fabs(y));
}

template <class Term>
bool sum_within(Vector a, Vector b, double limit, Term term) {
  double sum = 0;
  size_t i = 0;
  for (; i + kBlock <= a.size(); i += kBlock) {
    for (size_t k = i; k < i + kBlock; ++k) sum += term(a[k] - b[k]);
    if (sum > limit) return false;
  }
  for (; i < a.size(); ++i) sum += term(a[i] - b[i]);
  return sum <= limit;
}

bool each_within(Vector a, Vector b, double limit) {
  for (size_t i = 0; i < a.size(); ++i)
    if (std::fabs(a[i] - b[i]) > limit) return false;
  return true;
}

}  // namespace

double relative_difference(Vector a, Vector b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, relative(a[i], b[i]));
  return largest;
}

double largest_difference(Vector a, Vector b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::fabs(a[i] - b[i]));
  return largest;
}

double manhattan(Vector a, Vector b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += std::fabs(a[i] - b[i]);
  return sum;
}

double euclidean(Vector a, Vector b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

double largest_value(Vector a) {
  double largest = 0;
  for (const double x : a) largest = std::max(largest, x);
  return largest;
}

size_t wavelet_size(size_t stamp_count) {
  size_t size = 1;
  while (size < stamp_count + 1) size *= 2;
  return size;
}

void wavelet(Vector stamps, bool haar, double* out) {
  const size_t size = wavelet_size(stamps.size());
  const double factor = haar ? kHaar : kHalf;
  double* const trends = out + size;
  // The first step reads the padded vector without writing it down.
  const auto padded = [&](size_t i) { return i - 1 < stamps.size() ? stamps[i - 1] : 0.0; };
  for (size_t i = 0; i < size / 2; ++i) {
    const double x = padded(2 * i);
    const double y = padded(2 * i + 1);
    trends[i] = (x + y) * factor;
    out[size / 2 + i] = (y - x) * factor;
  }
  for (size_t half = size / 4; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) {
      const double x = trends[2 * i];
      const double y = trends[2 * i + 1];
      trends[i] = (x + y) * factor;
      out[half + i] = (y - x) * factor;
    }
  }
  out[0] = trends[0];
}

bool vectors_match(Method method, double threshold, Vector a, double max_a, Vector b,
                   double max_b) {
  const double limit = threshold * std::max(max_a, max_b);
  switch (method) {
    case Method::kRelDiff:
      for (size_t i = 0; i < a.size(); ++i)
        if (relative(a[i], b[i]) > threshold) return false;
      return true;
    case Method::kAbsDiff: return each_within(a, b, threshold);
    case Method::kChebyshev: return each_within(a, b, limit);
    case Method::kManhattan: return sum_within(a, b, limit, [](double d) { return std::fabs(d); });
    case Method::kEuclidean:
    case Method::kAvgWave:
    case Method::kHaarWave: return sum_within(a, b, limit * limit, [](double d) { return d * d; });
    case Method::kIterK:
    case Method::kIterAvg:
    case Method::kAuto: return false;
  }
  return false;
}

}  // namespace refrain::similarity
