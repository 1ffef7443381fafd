// OwnTime: how long the recorder itself works on a location.
//
// Calls that go the long way, checkpoints, and what is done in MPI_Init and MPI_Finalize are
// measured. Of the calls that go the short way about one in a thousand is, from where MPI returns
// (when the spool's window of words is full, so that no other call asks), and stands for those
// before it.
#pragma once

#include <algorithm>
#include <cstdint>

namespace refrain::tracer {

class OwnTime {
 public:
  // A piece of work; `is_call`: a call that no sample is to stand for.
  void add(uint64_t ticks, bool is_call = false) {
    ticks_ += ticks;
    if (is_call) ++measured_calls_;
  }
  // A call of the short way, of `calls` that the location has made in all.
  void sample(uint64_t ticks, uint64_t calls) {
    // One that was interrupted would stand for a thousand.
    least_ = std::min(least_, ticks);
    ticks = std::min(ticks, kInterrupted * least_);
    const uint64_t unmeasured = unmeasured_of(calls);
    ticks_ += ticks * unmeasured;
    sampled_ += unmeasured;
    last_ = ticks;
  }
  uint64_t total(uint64_t calls) const { return ticks_ + last_ * unmeasured_of(calls); }

 private:
  static constexpr uint64_t kInterrupted = 4;

  uint64_t unmeasured_of(uint64_t calls) const {
    const uint64_t known = measured_calls_ + sampled_;
    return calls > known ? calls - known : 0;
  }

  uint64_t ticks_ = 0, last_ = 0;
  uint64_t measured_calls_ = 0, sampled_ = 0;
  uint64_t least_ = UINT64_MAX;
};

}  // namespace refrain::tracer
