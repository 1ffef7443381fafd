// The recorder's own work between the calls of one location, call by call.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "format/trace_data.h"
#include "reader/internal.h"
#include "refrain/trace.h"

namespace refrain::reader {

// Ask for the calls in ascending order.
class OwnWorkAfter {
 public:
  OwnWorkAfter() = default;  // it never worked
  OwnWorkAfter(const Trace& trace, Rank rank, uint32_t thread)
      : small_a_call_(small_work_a_call(trace, rank)) {
    const format::OwnWork* const work = reader::own_work_of(trace, rank, thread);
    if (work != nullptr) pieces_ = &work->pieces;
  }

  // How long it worked from the end of call number `seq` on, ns; 0 where it did not, or for so
  // short that no piece of it was kept.
  uint64_t operator()(uint64_t seq) {
    if (pieces_ == nullptr) return 0;
    while (next_ < pieces_->size() && (*pieces_)[next_].call < seq) ++next_;
    return next_ < pieces_->size() && (*pieces_)[next_].call == seq ? (*pieces_)[next_].ns : 0;
  }

  // The time between two calls, pieces already taken off, without the work that is no piece. Of
  // that the trace has the sum of the rank only: each gap pays for the mean of a call, and what a
  // gap is too short for is taken from the next ones. So the gaps sum up to the rank's time
  // outside of MPI, and none is below 0. `calls`: since it was asked before.
  uint64_t without_small(uint64_t gap_ns, uint64_t calls = 1) {
    if (small_a_call_ <= 0) return gap_ns;
    owed_ += small_a_call_ * static_cast<double>(calls);
    const uint64_t ns = std::min(gap_ns, static_cast<uint64_t>(owed_));
    owed_ -= static_cast<double>(ns);
    return gap_ns - ns;
  }

 private:
  const std::vector<format::OwnPiece>* pieces_ = nullptr;
  size_t next_ = 0;
  double small_a_call_ = 0, owed_ = 0;  // ns
};

}  // namespace refrain::reader
