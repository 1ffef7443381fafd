// Histogram: how many calls took how long, on a scale of powers of two.
//
// Bucket i counts durations of [2^i, 2^(i+1)) ns; 0 ns is in bucket 0. Only the buckets between the
// first and the last one in use take memory, and few of them with small counts take no allocation:
// a trace may have millions of signatures that were each called a few times.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace refrain::format {

class Histogram {
 public:
  static constexpr size_t kBuckets = 64;
  static constexpr size_t bucket_of(uint64_t ns) {
    return static_cast<size_t>(std::bit_width(ns | 1)) - 1;
  }

  Histogram() = default;
  // Counts of `used` buckets from `first` on.
  Histogram(size_t first, size_t used, const uint64_t* counts)
      : first_(static_cast<uint8_t>(first)), used_(static_cast<uint8_t>(used)) {
    uint64_t all = 0;
    for (size_t i = 0; i < used; ++i) all |= counts[i];
    if (used > kFew || all > UINT8_MAX)
      take_many(counts);
    else
      for (size_t i = 0; i < used; ++i) few_ |= counts[i] << 8 * i;
  }
  // Counts of a byte each, the first bucket's lowest; eight buckets at most.
  static Histogram of_few(size_t first, size_t used, uint64_t counts) {
    Histogram h;
    h.first_ = static_cast<uint8_t>(first);
    h.used_ = static_cast<uint8_t>(used);
    h.few_ = counts;
    return h;
  }
  Histogram(const Histogram& o)
      : first_(o.first_), used_(o.used_), is_many_(o.is_many_), few_(o.few_) {
    if (is_many_) take_many(o.many_);
  }
  Histogram(Histogram&& o) noexcept { swap(o); }
  Histogram& operator=(Histogram o) noexcept {
    swap(o);
    return *this;
  }
  ~Histogram() {
    if (is_many_) delete[] many_;
  }

  constexpr size_t size() const { return kBuckets; }
  uint64_t operator[](size_t bucket) const {
    return bucket < first_ || bucket - first_ >= used_ ? 0 : count(bucket - first_);
  }
  // The buckets that take memory.
  size_t first() const { return first_; }
  size_t used() const { return used_; }

  void add(size_t bucket, uint64_t count) {
    if (count == 0) return;
    make_room_for(bucket);
    const size_t i = bucket - first_;
    if (!is_many_ && this->count(i) + count > UINT8_MAX) make_many();
    if (is_many_)
      many_[i] += count;
    else
      few_ += count << 8 * i;
  }
  void add(const Histogram& other) {
    for (size_t i = 0; i < other.used_; ++i) add(other.first_ + i, other.count(i));
  }

 private:
  // So many buckets of small counts take a byte each.
  static constexpr size_t kFew = sizeof(uint64_t);

  uint64_t count(size_t i) const { return is_many_ ? many_[i] : few_ >> 8 * i & UINT8_MAX; }
  void swap(Histogram& o) noexcept {
    std::swap(first_, o.first_);
    std::swap(used_, o.used_);
    std::swap(is_many_, o.is_many_);
    std::swap(few_, o.few_);  // either member: they are as large as each other
  }
  void take_many(const uint64_t* counts) {
    auto* const many = new uint64_t[used_];
    std::copy_n(counts, used_, many);
    many_ = many;
    is_many_ = true;
  }
  void make_many() {
    uint64_t counts[kFew];
    for (size_t i = 0; i < used_; ++i) counts[i] = count(i);
    take_many(counts);
  }
  void make_room_for(size_t bucket) {
    const size_t first = used_ == 0 ? bucket : std::min<size_t>(first_, bucket);
    const size_t end = used_ == 0 ? bucket + 1 : std::max<size_t>(first_ + used_, bucket + 1);
    const size_t before = used_ == 0 ? 0 : first_ - first;
    if (end - first > kFew || is_many_) {
      if (end - first != used_) make_room(before, end - first);
    } else if (before > 0) {
      few_ <<= 8 * before;
    }
    first_ = static_cast<uint8_t>(first);
    used_ = static_cast<uint8_t>(end - first);
  }
  void make_room(size_t before, size_t buckets) {
    auto* const more = new uint64_t[buckets]();
    for (size_t i = 0; i < used_; ++i) more[before + i] = count(i);
    if (is_many_) delete[] many_;
    many_ = more;
    is_many_ = true;
  }

  uint8_t first_ = 0, used_ = 0;
  bool is_many_ = false;
  union {
    uint64_t few_ = 0;  // counts of a byte each
    uint64_t* many_;    // from bucket first_ on
  };
  static_assert(sizeof(uint64_t) == sizeof(uint64_t*));
};

}  // namespace refrain::format
