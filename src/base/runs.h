// RunList: a sequence of integers kept as arithmetic runs (start, step, count).
//
// Lists of ranks, members of communicators and per-rank values are regular far more often than not;
// 0..4095 is one run, every eighth rank is one run. Appending is amortised O(1), at() O(log runs).
// The runs follow from the values alone, not from how they were put together (read() takes any).
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"

namespace refrain::base {

class RunList {
 public:
  struct Run {
    int64_t start = 0;
    int64_t step = 0;  // 0 when count is 1
    uint64_t count = 0;
    uint64_t before = 0;  // number of values in the runs before this one
    bool operator==(const Run&) const = default;
  };

  void append(int64_t value);
  void append_all(const RunList& other);
  // `count` values: value, value + step, ...
  void append_run(int64_t value, int64_t step, uint64_t count);

  uint64_t size() const { return runs_.empty() ? 0 : runs_.back().before + runs_.back().count; }
  bool empty() const { return runs_.empty(); }
  // i < size().
  int64_t at(uint64_t i) const;
  // Position of the first value that equals `value`, or -1. O(runs).
  int64_t find(int64_t value) const;
  const std::vector<Run>& runs() const { return runs_; }
  bool operator==(const RunList&) const = default;

  void write(ByteWriter& out) const;
  // Fails the reader when there are more than `max_values` values in all. A run may stand for many
  // values in few bytes; the list itself never needs more memory than the bytes it came from.
  static RunList read(ByteReader& in, uint64_t max_values);

 private:
  std::vector<Run> runs_;
};

}  // namespace refrain::base
