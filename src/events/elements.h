// Elements: an array of a call, element by element.
//
// Value::at() begins at the first run each time: who asks it for all statuses of 40 000 requests in
// turn looks at 800 million runs. Here the next element is one step away, and only an earlier one
// begins anew.
#pragma once

#include <cstddef>
#include <cstdint>

#include "refrain/value.h"

namespace refrain::events {

class Elements {
 public:
  // `array` has to outlive it. Of another kind than kArray: no elements.
  explicit Elements(const Value& array) : array_(array) {}

  // As Value::at(). The reference is valid until the next call.
  const Value& at(uint64_t i) {
    if (!array_.is_array()) return nothing_;
    if (i < first_) run_ = first_ = 0;
    for (; run_ < array_.items.size(); ++run_) {
      const Value& run = array_.items[run_];
      if (i - first_ < run.repeat) {
        if (run.repeat == 1) return run;
        return element_ = run.element(i - first_);
      }
      first_ += run.repeat;
    }
    return nothing_;
  }

 private:
  const Value& array_;
  size_t run_ = 0;      // where the last element was, and
  uint64_t first_ = 0;  // ... the first element of that run
  Value element_;
  const Value nothing_;
};

}  // namespace refrain::events
