// State that the sweep keeps for an op of a rank; the op itself (op.h) is constant.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "analysis/waits/pattern.h"
#include "analysis/waits/request.h"
#include "analysis/waits/vocabulary.h"

namespace refrain::analysis::waits {

// Time lost at a call, in one pattern.
struct Total {
  Pattern pattern = Pattern::kAll;
  uint64_t ns = 0, count = 0;
};

struct alignas(64) OpState {
  Request made;               // the request that its call made last
  std::vector<Total> totals;  // of the waits in it
};

// Of all ops of one decoder.
class OpStates {
 public:
  // Stays in place.
  OpState& of(const Op& op) {
    if (op.number >= all_.size()) all_.resize(op.number + size_t{1});
    return all_[op.number];
  }
  // nullptr: nothing was kept of it.
  const OpState* find(const Op& op) const {
    return op.number < all_.size() ? &all_[op.number] : nullptr;
  }

 private:
  std::deque<OpState> all_;
};

}  // namespace refrain::analysis::waits
