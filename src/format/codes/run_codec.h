// Lists of integers as the file has them: loops of runs, their structure apart from their numbers.
//
// The structure, which does not depend on the number of ranks where a program is regular, stands
// with the other fields of a section. The numbers do depend on it and have their own section, where
// each takes the same number of bytes whatever its size (base/wide.h).
//
//   list    := varint items, item*
//   item    := u8 form               numbers: start (less the start before it, 0 at first), then
//                0 one value
//                1 run of step 1     count
//                2 run               count, step
//                3 loop, then list   count, step      without a start
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/nested_runs.h"
#include "base/runs.h"

namespace refrain::format {

// The same values in the one form that appending them one by one gives.
base::RunList canonical(const base::RunList& list);

// A list in its two parts; `numbers` are appended.
void split_list(const std::vector<base::NestedRuns::Item>& items, base::ByteWriter& structure,
                std::vector<int64_t>& numbers);
void write_runs(const base::RunList& list, base::ByteWriter& structure, base::ByteWriter& numbers);

// Where the numbers of a list come from.
class NumberSource {
 public:
  virtual ~NumberSource() = default;
  // false: there are no more.
  virtual bool next(int64_t& number) = 0;
};
class WideSource : public NumberSource {
 public:
  explicit WideSource(base::ByteReader& in) : in_(in) {}
  bool next(int64_t& number) override;

 private:
  base::ByteReader& in_;
};
class VectorSource : public NumberSource {
 public:
  VectorSource(const std::vector<int64_t>& numbers, size_t& at) : numbers_(numbers), at_(at) {}
  bool next(int64_t& number) override {
    if (at_ >= numbers_.size()) return false;
    number = numbers_[at_++];
    return true;
  }

 private:
  const std::vector<int64_t>& numbers_;
  size_t& at_;
};

// Fails `structure` when there are more than `max_values` values, or more than `repeated_budget`
// runs come out of loops; what it uses is taken off the budget.
base::RunList join_list(base::ByteReader& structure, NumberSource& numbers, uint64_t max_values,
                        uint64_t& repeated_budget);
base::RunList read_runs(base::ByteReader& structure, base::ByteReader& numbers, uint64_t max_values,
                        uint64_t& repeated_budget);

}  // namespace refrain::format
