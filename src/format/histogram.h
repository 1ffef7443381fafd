// Histogram: how many calls took how long, on a scale of powers of two.
//
// Bucket i counts durations of [2^i, 2^(i+1)) ns; 0 ns is in bucket 0. Only the buckets between the
// first and the last one in use take memory: a trace may have millions of signatures that were each
// called once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace refrain::format {

class Histogram {
 public:
  static constexpr size_t kBuckets = 64;

  constexpr size_t size() const { return kBuckets; }
  uint64_t operator[](size_t bucket) const {
    return bucket < first_ || bucket - first_ >= counts_.size() ? 0 : counts_[bucket - first_];
  }
  void add(size_t bucket, uint64_t count) {
    if (count == 0) return;
    if (counts_.empty()) first_ = bucket;
    if (bucket < first_) {
      counts_.insert(counts_.begin(), first_ - bucket, 0);
      first_ = bucket;
    }
    if (bucket - first_ >= counts_.size()) counts_.resize(bucket - first_ + 1);
    counts_[bucket - first_] += count;
  }
  void add(const Histogram& other) {
    for (size_t i = 0; i < other.counts_.size(); ++i) add(other.first_ + i, other.counts_[i]);
  }

 private:
  size_t first_ = 0;
  std::vector<uint64_t> counts_;  // from bucket first_ on
};

}  // namespace refrain::format
