// PagedArray: a list that grows without moving its elements, so that growing needs no second copy
// of a very long list.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace refrain::format {

template <class T>
class PagedArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  PagedArray() = default;
  PagedArray(const PagedArray& o) {
    o.for_each_page([this](const T* page, size_t n) { append(page, n); });
  }
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
  // Room for `n` in a row at the end, of which added() says how many there are; null: the page has
  // not as many left.
  T* room_for(size_t n) {
    if (room_ - size_ < n) [[unlikely]] {
      if (size_ % kPage + n > kPage) return nullptr;
      grow(n);
    }
    return last_ + size_ % kPage;
  }
  void added(size_t n) { size_ += n; }
  // How many room_for() has room for, now that it was asked.
  size_t room_left() const { return room_ - size_; }
  void append(const T* values, size_t n) { append_bytes(values, n); }
  // `n` elements as they stand in memory, wherever that is.
  void append_bytes(const void* from, size_t n) {
    const auto* at = static_cast<const char*>(from);
    append_pieces(n, [&](T* to, size_t piece) {
      std::memcpy(static_cast<void*>(to), at, piece * sizeof(T));
      at += piece * sizeof(T);
    });
  }
  void append(size_t n, const T& v) {
    append_pieces(n, [&](T* to, size_t piece) { std::fill_n(to, piece, v); });
  }
  // first, first + step and so on.
  void append_ascending(size_t n, T first, T step) {
    append_pieces(n, [&](T* to, size_t piece) {
      for (size_t i = 0; i < piece; ++i, first += step) to[i] = first;
    });
  }
  void clear() { *this = PagedArray(); }
  // Those from `i` on when they are `n` in a row, as most few are; else null.
  const T* in_a_row(size_t i, size_t n) const {
    return i % kPage + n <= kPage && n > 0 ? &pages_[i / kPage][i % kPage] : nullptr;
  }
  // How many elements may be in a row from `i` on.
  static constexpr size_t row_from(size_t i) { return kPage - i % kPage; }
  void fill(size_t i, size_t n, const T& v) {
    for (; n > 0;) {
      const size_t piece = std::min(n, kPage - i % kPage);
      std::fill_n(&(*this)[i], piece, v);
      i += piece;
      n -= piece;
    }
  }
  // visit(first, number) for each piece in a row.
  template <class Visit>
  void for_each_page(Visit visit) const {
    for (size_t i = 0; i < size_; i += kPage) visit(&(*this)[i], std::min(kPage, size_ - i));
  }
  // How many from the first on are those of `o`, byte by byte.
  size_t equal_until(const PagedArray& o) const {
    constexpr size_t kPiece = 64;
    const size_t n = std::min(size_, o.size_);
    size_t i = 0;
    while (i < n) {
      const size_t piece = std::min({kPiece, n - i, kPage - i % kPage});
      if (std::memcmp(&(*this)[i], &o[i], piece * sizeof(T)) != 0) break;
      i += piece;
    }
    while (i < n && std::memcmp(&(*this)[i], &o[i], sizeof(T)) == 0) ++i;
    return i;
  }

 private:
  static constexpr size_t kPage = 4096, kFirst = 8;

  void swap(PagedArray& o) noexcept {
    pages_.swap(o.pages_);
    std::swap(last_, o.last_);
    std::swap(size_, o.size_);
    std::swap(room_, o.room_);
  }
  template <class Write>
  void append_pieces(size_t n, Write write) {
    while (n > 0) {
      if (size_ == room_) grow(n);
      const size_t piece = std::min(n, room_ - size_);
      write(last_ + size_ % kPage, piece);
      size_ += piece;
      n -= piece;
    }
  }
  // A short list takes little; from the second page on all are whole.
  void grow(size_t wanted = 1) {
    const bool is_new = size_ == pages_.size() * kPage;
    const size_t used = is_new ? 0 : size_ % kPage;
    const size_t pages = pages_.size() + (is_new ? 1 : 0);
    const size_t room =
        pages > 1 ? kPage : std::clamp(std::max(2 * used, used + wanted), kFirst, kPage);
    // None of it is set: pages of zeros would be written twice.
    std::unique_ptr<T[]> page(new T[room]);
    if (!is_new) std::memcpy(static_cast<void*>(page.get()), last_, used * sizeof(T));
    last_ = page.get();
    if (is_new)
      pages_.push_back(std::move(page));
    else
      pages_.back() = std::move(page);
    room_ = (pages_.size() - 1) * kPage + room;
  }

  std::vector<std::unique_ptr<T[]>> pages_;
  T* last_ = nullptr;  // the last page
  size_t size_ = 0, room_ = 0;
};

// Integers of which most are small: four bytes each, and eight more for one that is not.
class NumberArray {
 public:
  size_t size() const { return small_.size(); }
  int64_t operator[](size_t i) const { return of_word(small_[i]); }
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
  // How many from the first on are those of `o`; fewer where some are not small, and these differ.
  size_t equal_until(const NumberArray& o) const {
    const size_t n = wide_.size();
    return n == o.wide_.size() && wide_.equal_until(o.wide_) == n ? small_.equal_until(o.small_)
                                                                  : 0;
  }

  // ---- words, as they stand: for whoever takes many at once ----
  // A number whose zigzag form is below 2^31 is that.
  static constexpr bool is_short(uint64_t zigzag) { return zigzag < kWide; }
  static constexpr int64_t number_of(uint32_t word) {
    return static_cast<int64_t>(word >> 1) ^ -static_cast<int64_t>(word & 1);
  }
  // What a word of this array says.
  int64_t of_word(uint32_t v) const { return (v & kWide) != 0 ? wide_[v ^ kWide] : number_of(v); }
  const PagedArray<uint32_t>& words() const { return small_; }
  PagedArray<uint32_t>& words() { return small_; }
  const PagedArray<int64_t>& wide() const { return wide_; }
  PagedArray<int64_t>& wide() { return wide_; }
  // Whether each word has a number.
  bool is_whole() const {
    bool good = true;
    small_.for_each_page([&](const uint32_t* page, size_t n) {
      uint32_t all = 0;
      for (size_t i = 0; i < n; ++i) all |= page[i];
      if ((all & kWide) == 0) return;
      for (size_t i = 0; i < n; ++i)
        good = good && ((page[i] & kWide) == 0 || (page[i] ^ kWide) < wide_.size());
    });
    return good;
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
