// PagedArray: a list that grows without moving what it has, so that very many small things take
// their own room and no more while it grows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace refrain::format {

template <class T>
class PagedArray {
 public:
  PagedArray() = default;
  PagedArray(const PagedArray& o)
      : pages_(o.pages_),
        last_(pages_.empty() ? nullptr : pages_.back().data()),
        size_(o.size_),
        room_(o.room_) {}
  PagedArray(PagedArray&& o) noexcept { swap(o); }
  PagedArray& operator=(PagedArray o) noexcept {
    swap(o);
    return *this;
  }
  ~PagedArray() = default;

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T& operator[](size_t i) const { return pages_[i / kPage][i % kPage]; }
  T& operator[](size_t i) { return pages_[i / kPage][i % kPage]; }

  void push_back(const T& v) {
    if (size_ == room_) [[unlikely]]
      grow();
    last_[size_ % kPage] = v;
    ++size_;
  }
  void clear() { *this = PagedArray(); }
  // Those from `i` on when they are `n` in a row, as most few are; else null.
  const T* in_a_row(size_t i, size_t n) const {
    return i % kPage + n <= kPage && n > 0 ? &pages_[i / kPage][i % kPage] : nullptr;
  }
  void fill(size_t i, size_t n, const T& v) {
    if (const T* const row = in_a_row(i, n); row != nullptr) {
      std::fill_n(const_cast<T*>(row), n, v);
    } else {
      for (size_t k = 0; k < n; ++k) (*this)[i + k] = v;
    }
  }

 private:
  static constexpr size_t kPage = 4096, kFirst = 8;

  void swap(PagedArray& o) noexcept {
    pages_.swap(o.pages_);
    std::swap(last_, o.last_);
    std::swap(size_, o.size_);
    std::swap(room_, o.room_);
  }
  // A short list takes little; from the second page on all are whole.
  void grow() {
    if (size_ % kPage == 0) pages_.emplace_back();
    std::vector<T>& page = pages_.back();
    page.resize(pages_.size() > 1 ? kPage : std::clamp(2 * page.size(), kFirst, kPage));
    last_ = page.data();
    room_ = (pages_.size() - 1) * kPage + page.size();
  }

  std::vector<std::vector<T>> pages_;
  T* last_ = nullptr;  // the last page
  size_t size_ = 0, room_ = 0;
};

// Integers of which most are small: four bytes each, and eight more for one that is not.
class NumberArray {
 public:
  size_t size() const { return small_.size(); }
  int64_t operator[](size_t i) const {
    const uint32_t v = small_[i];
    if ((v & kWide) != 0) return wide_[v ^ kWide];
    return static_cast<int64_t>(v >> 1) ^ -static_cast<int64_t>(v & 1);
  }
  void push_back(int64_t v) { small_.push_back(fits(v) ? short_of(v) : wide_of(v)); }
  void set(size_t i, int64_t v) {
    uint32_t& at = small_[i];
    if (fits(v)) {
      at = short_of(v);
    } else if ((at & kWide) != 0) {
      wide_[at ^ kWide] = v;
    } else {
      at = wide_of(v);
    }
  }
  void clear() { *this = NumberArray(); }
  // Whether the `n` from `i` on are those of `o` from `j` on.
  bool equals(size_t i, const NumberArray& o, size_t j, size_t n) const {
    const uint32_t* const a = small_.in_a_row(i, n);
    const uint32_t* const b = o.small_.in_a_row(j, n);
    for (size_t k = 0; k < n; ++k) {
      const bool is_plain = a != nullptr && b != nullptr && ((a[k] | b[k]) & kWide) == 0;
      if (is_plain ? a[k] != b[k] : (*this)[i + k] != o[j + k]) return false;
    }
    return true;
  }

 private:
  static constexpr uint32_t kWide = uint32_t{1} << 31;
  static bool fits(int64_t v) { return v >= -(int64_t{1} << 30) && v < int64_t{1} << 30; }
  static uint32_t short_of(int64_t v) {
    return static_cast<uint32_t>((static_cast<uint64_t>(v) << 1) ^ static_cast<uint64_t>(v >> 63));
  }
  uint32_t wide_of(int64_t v) {
    wide_.push_back(v);
    return kWide | static_cast<uint32_t>(wide_.size() - 1);
  }

  PagedArray<uint32_t> small_;  // zigzag, or kWide and an index
  PagedArray<int64_t> wide_;
};

}  // namespace refrain::format
