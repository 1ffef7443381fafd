// NestedRuns: a sequence of integers as runs, loops of runs, loops of loops.
//
// The ranks inside a three-dimensional grid, the partner of each rank in a transpose, the
// displacements of an all-to-all: each is an arithmetic progression of arithmetic progressions, or
// a few of them in turn. What a RunList writes as a run per row takes a handful of numbers here,
// whatever the number of rows; what has no such structure is a list of runs.
//
//   1 2 3  0  5 6 7  4  9 10 11  8     loop of 3, distance 4: (run 1 2 3) (run 0)
//
// Values are appended at the end. The last run is kept open, because the next value may belong to
// it; a closed run is compared with what precedes it: p items that stand twice, shifted by one
// distance, become a loop, and a loop that is followed by its own body once more gets a repetition.
// Memory follows the number of items, appending takes constant time, appending another list time in
// proportion to its items where the two fit together and to its runs where not.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/runs.h"

namespace refrain::base {

class NestedRuns {
 public:
  // A run: `count` values start, start + step, ... A loop (with a body): the body `count` times,
  // each time `step` higher; starts in the body are those of the first time.
  struct Item {
    int64_t start = 0;
    int64_t step = 0;  // 0 for a single value
    uint64_t count = 1;
    std::vector<Item> body;
    bool is_loop() const { return !body.empty(); }
    bool operator==(const Item&) const = default;
  };
  // Loops inside loops: enough for 2^32 values, since a loop has two repetitions at least.
  static constexpr int kMaxDepth = 32;

  NestedRuns() = default;
  explicit NestedRuns(const RunList& list);

  void append(int64_t value) { append_run(value, 0, 1); }
  // `count` values: start, start + step, ...; as if one by one.
  void append_run(int64_t start, int64_t step, uint64_t count);
  void append_all(const NestedRuns& other);

  uint64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t first() const;        // not empty
  int64_t last() const;         // not empty
  uint64_t item_count() const;  // of all levels: what memory follows

  // The whole list as items, the open run closed.
  std::vector<Item> items() const;
  // The runs follow from the values alone.
  RunList runs() const;
  // visit(start, step, count) for each run, in order.
  template <class Visit>
  void for_each_run(Visit visit) const {
    for (const Item& item : items_) walk(item, 0, visit);
    if (open_.count > 0) visit(open_.start, open_.step, open_.count);
  }
  template <class Visit>
  static void for_each_run(const std::vector<Item>& items, Visit visit) {
    for (const Item& item : items) walk(item, 0, visit);
  }

  void write(ByteWriter& out) const;
  // Fails the reader when there are more than `max_values` values in all.
  static NestedRuns read(ByteReader& in, uint64_t max_values);

 private:
  template <class Visit>
  static void walk(const Item& item, uint64_t offset, Visit& visit) {
    const uint64_t start = static_cast<uint64_t>(item.start) + offset;
    if (!item.is_loop()) return visit(static_cast<int64_t>(start), item.step, item.count);
    for (uint64_t i = 0; i < item.count; ++i) {
      for (const Item& inner : item.body)
        walk(inner, offset + static_cast<uint64_t>(item.step) * i, visit);
    }
  }
  void append_item(const Item& item, uint64_t offset);
  bool extend_by(const Item& item, uint64_t offset, uint64_t done);
  void close();
  void reopen();
  bool repeats_last();
  void fold();
  bool may_fold(size_t period) const;
  bool fold_period(size_t period);

  std::vector<Item> items_;
  Item open_{0, 0, 0, {}};  // count 0: none
  uint64_t size_ = 0;
};

}  // namespace refrain::base
