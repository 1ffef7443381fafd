#include "replay/pace/pace.h"

#include <algorithm>

namespace refrain::replay {

uint64_t GapsOfTimes::before(const events::StagedCall& call) {
  return gaps_.before(call).value_or(0);
}

void Pace::before(const events::StagedCall& call) {
  if (options_.compute == Compute::kNone || gaps_ == nullptr) return;
  const auto gap = static_cast<uint64_t>(static_cast<double>(gaps_->before(call)) * options_.scale);
  wanted_ns_ += gap;
  if (returned_ns_ == 0) returned_ns_ = clock_.now_ns();
  // What earlier gaps took too long is taken from this one.
  const auto due = static_cast<int64_t>(gap) - late_ns_;
  const uint64_t deadline = returned_ns_ + static_cast<uint64_t>(std::max<int64_t>(due, 0));
  clock_.pass_until(deadline, options_.compute);
  const uint64_t now = clock_.now_ns();
  const uint64_t spent = now - returned_ns_;
  spent_ns_ += spent;
  late_ns_ += static_cast<int64_t>(spent) - static_cast<int64_t>(gap);
}

void Pace::after() {
  if (options_.compute != Compute::kNone) returned_ns_ = clock_.now_ns();
}

}  // namespace refrain::replay
