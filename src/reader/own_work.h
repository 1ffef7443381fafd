// The recorder's own work between the calls of one location, call by call.
#pragma once

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
  OwnWorkAfter(const Trace& trace, Rank rank, uint32_t thread) {
    const format::OwnWork* const work = reader::own_work_of(trace, rank, thread);
    if (work != nullptr) pieces_ = &work->pieces;
  }

  // How long it worked from the end of call number `seq` on, ns; 0 where it did not.
  uint64_t operator()(uint64_t seq) {
    if (pieces_ == nullptr) return 0;
    while (next_ < pieces_->size() && (*pieces_)[next_].call < seq) ++next_;
    return next_ < pieces_->size() && (*pieces_)[next_].call == seq ? (*pieces_)[next_].ns : 0;
  }

 private:
  const std::vector<format::OwnPiece>* pieces_ = nullptr;
  size_t next_ = 0;
};

}  // namespace refrain::reader
