// The value in the middle.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>

namespace refrain::base {

// Between the two in the middle where the values are even in number, nearer to the lower one where
// whole numbers leave a choice; 0 of none. Reorders them. Linear in their number.
template <class T>
T median(std::span<T> values) {
  if (values.empty()) return T{};
  const size_t half = values.size() / 2;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(half);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return std::midpoint(*std::max_element(values.begin(), middle), *middle);
}

}  // namespace refrain::base
