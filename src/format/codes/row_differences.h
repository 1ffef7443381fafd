// RowDifferences: in which columns rows of words differ from the first row.
//
// Where every call is a new one there are millions of rows, and most of their columns are constant.
// Two rows are compared at a time, two words at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "format/codes/paged_array.h"

namespace refrain::format {

class RowDifferences {
 public:
  // The first row, of `n` words.
  RowDifferences(const uint32_t* first, size_t n) : n_(n), first_(n), differ_(n, 0) {
    if (n == 0) return;
    auto* const twice = reinterpret_cast<char*>(first_.data());
    std::memcpy(twice, first, n * sizeof *first);
    std::memcpy(twice + n * sizeof *first, first, n * sizeof *first);
  }
  // `count` rows behind each other.
  void add(const uint32_t* rows, size_t count) {
    for (; count >= 2; count -= 2, rows += 2 * n_) {
      for (size_t i = 0; i < n_; ++i) {
        uint64_t pair;
        std::memcpy(&pair, rows + 2 * i, sizeof pair);
        differ_[i] |= pair ^ first_[i];
      }
    }
    if (count == 0) return;
    auto* const words = reinterpret_cast<char*>(differ_.data());
    for (size_t k = 0; k < n_; ++k) {
      const uint32_t differ = word(differ_, k) | (rows[k] ^ word(first_, k));
      std::memcpy(words + k * sizeof differ, &differ, sizeof differ);
    }
  }
  bool differs(size_t column) const {
    return (word(differ_, column) | word(differ_, n_ + column)) != 0;
  }

 private:
  static uint32_t word(const std::vector<uint64_t>& pairs, size_t k) {
    uint32_t v = 0;
    std::memcpy(&v, reinterpret_cast<const char*>(pairs.data()) + k * sizeof v, sizeof v);
    return v;
  }

  size_t n_;
  std::vector<uint64_t> first_;   // the first row, twice
  std::vector<uint64_t> differ_;  // of two rows: the bits that differed
};

// Of `count` rows of `n` words that stand behind each other from `first` on.
inline RowDifferences differences_of(const PagedArray<uint32_t>& words, size_t first, size_t count,
                                     size_t n) {
  std::vector<uint32_t> row(n);
  const auto gather = [&](size_t at) {
    for (size_t k = 0; k < n; ++k) row[k] = words[at + k];
    return row.data();
  };
  RowDifferences all(count > 0 ? gather(first) : nullptr, count > 0 ? n : 0);
  while (count > 0 && n > 0) {
    const uint32_t* const rows = words.in_a_row(first, n);
    // A page ends within a row: that one is put together.
    const size_t in_page = std::min(count, PagedArray<uint32_t>::row_from(first) / n);
    const size_t some = rows != nullptr ? in_page : 1;
    all.add(rows != nullptr ? rows : gather(first), some);
    first += some * n;
    count -= some;
  }
  return all;
}

}  // namespace refrain::format
