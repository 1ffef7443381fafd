// Histogram: how many calls took how long, on a scale of powers of two.
//
// Bucket i counts durations of [2^i, 2^(i+1)) ns; 0 ns is in bucket 0. Only the buckets between the
// first and the last one in use take memory, and a single one takes no allocation: a trace may have
// millions of signatures that were each called once.
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
  Histogram(const Histogram& o) : first_(o.first_), used_(o.used_), one_(o.one_) {
    if (used_ <= 1) return;
    many_ = new uint64_t[used_];
    std::copy_n(o.many_, used_, many_);
  }
  Histogram(Histogram&& o) noexcept { swap(o); }
  Histogram& operator=(Histogram o) noexcept {
    swap(o);
    return *this;
  }
  ~Histogram() {
    if (used_ > 1) delete[] many_;
  }

  constexpr size_t size() const { return kBuckets; }
  uint64_t operator[](size_t bucket) const {
    return bucket < first_ || bucket - first_ >= used_ ? 0 : counts()[bucket - first_];
  }
  // The buckets that take memory.
  size_t first() const { return first_; }
  size_t used() const { return used_; }

  void add(size_t bucket, uint64_t count) {
    if (count == 0) return;
    make_room_for(bucket);
    (used_ > 1 ? many_ : &one_)[bucket - first_] += count;
  }
  void add(const Histogram& other) {
    for (size_t i = 0; i < other.used_; ++i) add(other.first_ + i, other.counts()[i]);
  }

 private:
  const uint64_t* counts() const { return used_ > 1 ? many_ : &one_; }
  void swap(Histogram& o) noexcept {
    std::swap(first_, o.first_);
    std::swap(used_, o.used_);
    std::swap(one_, o.one_);  // either member: they are as large as each other
  }
  void make_room_for(size_t bucket) {
    const size_t first = used_ == 0 ? bucket : std::min<size_t>(first_, bucket);
    const size_t end = used_ == 0 ? bucket + 1 : std::max<size_t>(first_ + used_, bucket + 1);
    if (end - first != used_ && end - first > 1) {
      auto* const more = new uint64_t[end - first]();
      std::copy_n(counts(), used_, more + (used_ == 0 ? 0 : first_ - first));
      if (used_ > 1) delete[] many_;
      many_ = more;
    }
    first_ = static_cast<uint8_t>(first);
    used_ = static_cast<uint8_t>(end - first);
  }

  uint8_t first_ = 0, used_ = 0;
  union {
    uint64_t one_ = 0;  // used_ is 0 or 1
    uint64_t* many_;    // from bucket first_ on
  };
  static_assert(sizeof(uint64_t) == sizeof(uint64_t*));
};

}  // namespace refrain::format
