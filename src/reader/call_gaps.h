// What the program did between the calls of one location: the time from where the thread was busy
// until to the begin of the next call, without the recorder's own work. Everything that takes the
// time between calls for computation asks here (docs/decisions/0263).
//
// Calls come by number, which is the order of their ends, or by begin, as events do. The thread is
// busy until the last end of all that came. So of a call inside of another one (of a callback) and
// the outer one, what comes first has the time before both, and the other one has none. Threads of
// a rank are apart; each has its own CallGaps.
//
// Units: ns. Ownership: keeps a pointer into the trace, which must outlive it. Threads: one at a
// time. Errors: none; times of a damaged trace give times that mean nothing, and no overflow.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "reader/own_work.h"
#include "refrain/trace.h"

namespace refrain::reader {

class CallGaps {
 public:
  CallGaps() = default;  // the recorder never worked
  // Without times of single calls, times were built from sums in which that work is not.
  CallGaps(const Trace& trace, Rank rank, uint32_t thread) {
    if (trace.has_times()) own_work_ = OwnWorkAfter(trace, rank, thread);
  }

  // The time before `call`, which may be 0; the thread is busy until its end then. Nothing: it is
  // not known until when the thread was busy, as this is the first call, or one before it has no
  // time. `call`: has a number, a begin and an end (Call, events::Event, events::StagedCall).
  template <class TimedCall>
  std::optional<uint64_t> before(const TimedCall& call) {
    if (!has_time(call)) return untimed();
    return before(call.begin_ns, call.end_ns, own_work_(call.seq));
  }

  // The same of a call of another thread of the rank, where the calls of several stand in one
  // order. What the recorder did behind it was beside this thread.
  template <class TimedCall>
  std::optional<uint64_t> before_others(const TimedCall& call) {
    return before(call.begin_ns, call.end_ns, 0);
  }

  // The call itself is part of the time before the next one. What the recorder did behind it, is
  // not.
  template <class TimedCall>
  void count_as_gap(const TimedCall& call) {
    count_as_gap_of_others();
    own_ns_ += own_work_(call.seq);
  }
  void count_as_gap_of_others() { ++calls_; }

  // The walk begins behind `call`, in the middle: the times before have paid for what the recorder
  // did until its end.
  template <class TimedCall>
  void begin_behind(const TimedCall& call) {
    if (!has_time(call)) return;
    busy_until(call.end_ns);
    own_ns_ = own_work_(call.seq);
  }

  // Nothing before `ns` is time between calls.
  void busy_until(uint64_t ns) {
    busy_until_ns_ = std::max(busy_until_ns_, ns);
    is_known_ = true;
  }

 private:
  template <class TimedCall>
  static bool has_time(const TimedCall& call) {
    if constexpr (requires { call.has_time; }) return call.has_time;
    return true;
  }

  std::optional<uint64_t> before(uint64_t begin_ns, uint64_t end_ns, uint64_t own_behind_ns) {
    const bool is_known = is_known_;
    const uint64_t gap_ns = is_known ? begin_ns - std::min(begin_ns, busy_until_ns_) : 0;
    // The recorder was through with a piece before the next call began. Where the piece is longer
    // than the gap, the times are those of bins or segments, and say nothing of the next gaps.
    const uint64_t own_ns = std::min(gap_ns, std::exchange(own_ns_, own_behind_ns));
    const uint64_t ns = own_work_.without_small(gap_ns - own_ns, std::exchange(calls_, 0) + 1);
    busy_until(end_ns);
    return is_known ? std::optional(ns) : std::nullopt;
  }

  std::optional<uint64_t> untimed() {
    count_as_gap_of_others();
    own_ns_ = 0;
    is_known_ = false;
    return std::nullopt;
  }

  OwnWorkAfter own_work_;
  uint64_t busy_until_ns_ = 0;
  bool is_known_ = false;
  uint64_t own_ns_ = 0;  // in pieces, since the end of the last call that is no gap
  uint64_t calls_ = 0;   // that count as a gap, since then
};

}  // namespace refrain::reader
