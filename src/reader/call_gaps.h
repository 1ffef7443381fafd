// What the program did between the calls of one location: the time from where the thread was busy
// until to the begin of the next call, without the recorder's own work. Everything that takes the
// time between calls for computation asks here.
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
  CallGaps(const Trace& trace, Rank rank, uint32_t thread) : own_work_(trace, rank, thread) {}

  // The time before `call`, which may be 0; the thread is busy until its end then. Nothing: it is
  // not known until when the thread was busy, as this is the first call, or one before it has no
  // time. `call`: has a number, a begin and an end (Call, events::Event, events::StagedCall).
  template <class TimedCall>
  std::optional<uint64_t> before(const TimedCall& call) {
    if (!has_time(call)) return untimed();
    return before(call.begin_ns, end_of_work(call.seq, call.end_ns));
  }

  // The same of a call of another thread of the rank, where the calls of several stand in one
  // order. What the recorder did behind it was beside this thread.
  template <class TimedCall>
  std::optional<uint64_t> before_others(const TimedCall& call) {
    return before(call.begin_ns, call.end_ns);
  }

  // The call itself is part of the time before the next one. What the recorder did behind it, is
  // not.
  template <class TimedCall>
  void count_as_gap(const TimedCall& call) {
    count_as_gap_of_others();
    own_in_gap_ns_ += own_work_(call.seq);
  }
  void count_as_gap_of_others() { ++calls_; }

  // The walk begins behind `call`, in the middle: what the recorder did until its end is off the
  // times before.
  template <class TimedCall>
  void begin_behind(const TimedCall& call) {
    if (has_time(call)) busy_until(end_of_work(call.seq, call.end_ns));
  }

  // Nothing before `ns` is time between calls.
  void busy_until(uint64_t ns) {
    busy_until_ns_ = std::max(busy_until_ns_, ns);
    is_known_ = true;
  }

  // With calls, and with what the recorder did behind them. Nothing: not known.
  std::optional<uint64_t> busy_until() const {
    return is_known_ ? std::optional(busy_until_ns_) : std::nullopt;
  }

 private:
  template <class TimedCall>
  static bool has_time(const TimedCall& call) {
    if constexpr (requires { call.has_time; }) return call.has_time;
    return true;
  }

  uint64_t end_of_work(uint64_t seq, uint64_t end_ns) {
    return end_ns + std::min(own_work_(seq), UINT64_MAX - end_ns);
  }

  std::optional<uint64_t> before(uint64_t begin_ns, uint64_t busy_until_ns) {
    const bool is_known = is_known_;
    const uint64_t gap_ns = is_known ? begin_ns - std::min(begin_ns, busy_until_ns_) : 0;
    const uint64_t own_ns = std::min(gap_ns, std::exchange(own_in_gap_ns_, 0));
    const uint64_t ns = own_work_.without_small(gap_ns - own_ns, std::exchange(calls_, 0) + 1);
    busy_until(busy_until_ns);
    return is_known ? std::optional(ns) : std::nullopt;
  }

  std::optional<uint64_t> untimed() {
    count_as_gap_of_others();
    own_in_gap_ns_ = 0;
    is_known_ = false;
    return std::nullopt;
  }

  OwnWorkAfter own_work_;
  uint64_t busy_until_ns_ = 0;
  bool is_known_ = false;
  // Of calls that count as a gap, since the last other one.
  uint64_t own_in_gap_ns_ = 0, calls_ = 0;
};

}  // namespace refrain::reader
