// The histogram of one signature, as the models of statistics (format/stats/) want it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "format/codes/quantise.h"
#include "format/encode/stat_plan.h"
#include "format/histogram.h"
#include "format/stats/grain.h"
#include "format/stats/model.h"

namespace refrain::format {

class HistogramOf {
  using Counts = std::array<uint64_t, Histogram::kBuckets>;

 public:
  HistogramOf(const StatEntry& e, unsigned grain)
      : calls_(e.item.calls - 2),
        octaves_(octaves_for(e.item.calls, grain)),
        levels_(levels_of(grain)),
        is_fine_(grain == 0),
        histogram_(e.histogram) {}

  // Between the ends that the reader knows.
  void put(CodedStats& s) {
    first_ = Histogram::bucket_of(time_of(s.min)) / octaves_;
    last_ = Histogram::bucket_of(time_of(s.max)) / octaves_;
    if (first_ == last_) {
      s.rest_bucket = first_;
      s.inner[first_] = calls_;
      return;
    }
    count_between_ends();
    scale(Histogram::bucket_of(time_of(s.mean)) / octaves_);
    // The bucket with the most calls has what rounding leaves: it matters least there.
    s.rest_bucket = fullest(counts_);
    is_fine_ ? balance(s.rest_bucket, s.inner) : round(s.rest_bucket, s.inner);
    // It still has the most, or who writes what was read would take another one.
    for (size_t b = fullest(s.inner); b != s.rest_bucket; b = fullest(s.inner)) {
      const uint64_t less = levels_[levels_.below(s.inner[b]) - 1];
      s.inner[s.rest_bucket] += s.inner[b] - less;
      s.inner[b] = less;
    }
  }

 private:
  void count_between_ends() {
    std::fill(counts_.begin() + static_cast<ptrdiff_t>(first_),
              counts_.begin() + static_cast<ptrdiff_t>(last_) + 1, 0);
    const size_t end = histogram_.first() + histogram_.used();
    for (size_t b = histogram_.first(); b < end; ++b)
      counts_[std::clamp(b / octaves_, first_, last_)] += histogram_[b];
    take_one(first_, 1);
    take_one(last_, -1);
  }
  // The call that is an end of the histogram; from the next bucket that has one.
  void take_one(size_t from, int step) {
    for (size_t b = from, n = last_ - first_ + 1; n > 0; --n, b += static_cast<size_t>(step)) {
      if (counts_[b] == 0) continue;
      --counts_[b];
      return;
    }
  }
  // As many calls as the grammars have, where that differs; all in one bucket where none is known.
  void scale(size_t of_mean) {
    uint64_t all = 0;
    for (size_t b = first_; b <= last_; ++b) all += counts_[b];
    if (all == calls_) return;
    if (all == 0) {
      counts_[std::clamp(of_mean, first_, last_)] = calls_;
      return;
    }
    const double factor = static_cast<double>(calls_) / static_cast<double>(all);
    for (size_t b = first_; b <= last_; ++b)
      counts_[b] = std::min(whole_of(static_cast<double>(counts_[b]) * factor), calls_);
  }

  size_t fullest(const Counts& counts) const {
    size_t most = first_;
    for (size_t b = first_; b <= last_; ++b)
      if (counts[b] > counts[most]) most = b;
    return most;
  }

  // Each the nearest level.
  void round(size_t rest, Counts& out) const {
    uint64_t left = calls_;
    for (size_t b = first_; b <= last_; ++b) {
      if (b != rest) take(levels_.nearest(counts_[b]), b, out, left);
    }
    out[rest] = left;
  }
  // From the least to the greatest the level below or above, whichever makes up for the errors
  // before: so the last one's is all that is left.
  void balance(size_t rest, Counts& out) const {
    uint64_t left = calls_;
    std::array<size_t, Histogram::kBuckets> order;
    size_t n = 0;
    for (size_t b = first_; b <= last_; ++b)
      if (b != rest) order[n++] = b;
    std::stable_sort(order.data(), order.data() + n,
                     [&](size_t a, size_t b) { return counts_[a] < counts_[b]; });
    int64_t off = 0;
    for (size_t i = 0; i < n; ++i) {
      const size_t b = order[i];
      const size_t below = levels_.below(counts_[b]);
      const auto down = off - static_cast<int64_t>(counts_[b] - levels_[below]);
      const bool is_level = levels_[below] == counts_[b] || below + 1 == levels_.size();
      const auto up = is_level ? 0 : off + static_cast<int64_t>(levels_[below + 1] - counts_[b]);
      const bool goes_up = !is_level && std::abs(up) < std::abs(down);
      take(below + (goes_up ? 1 : 0), b, out, left);
      off = goes_up ? up : down;
    }
    out[rest] = left;
  }
  // No more calls in all buckets than there are.
  void take(size_t level, size_t bucket, Counts& out, uint64_t& left) const {
    while (levels_[level] > left) --level;
    out[bucket] = levels_[level];
    left -= out[bucket];
  }

  const uint64_t calls_;
  const unsigned octaves_;
  const CountLevels& levels_;
  const bool is_fine_;
  const Histogram& histogram_;
  size_t first_ = 0, last_ = 0;
  Counts counts_;  // of the buckets between the two
};

}  // namespace refrain::format
