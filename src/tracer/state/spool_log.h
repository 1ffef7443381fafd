// SpoolLog: the words of a location's spool that change with every call.
//
//   begin   state: which call, since when          every call that ends: one word of the log
//   end     state: none, or the call around it
//
// Laws:   no lock, no branch but "is the window full", no system call on the path of a call. A
// mapped
//         file holds what is written here, so it is there after a SIGKILL between any two
//         instructions. Without a spool the same instructions write into this object.
// Budget: 18 instructions a call in all.
#pragma once

#include <cstdint>

#include "format/spool/layout.h"
#include "tracer/state/in_order.h"

namespace refrain::tracer {

struct Location;
struct SpoolThread;

class SpoolLog {
 public:
  SpoolLog() { detach(); }
  SpoolLog(const SpoolLog&) = delete;
  SpoolLog& operator=(const SpoolLog&) = delete;

  void entered(uint32_t call, uint64_t ticks) {
    state_->open_call = call;
    state_->entered_ticks = ticks;
  }
  void left(uint32_t outer_call) { state_->open_call = outer_call; }
  // In the call under way for ever, whatever comes: MPI_Abort may return while the job is ended.
  void gave_up() {
    idle_state_ = *state_;
    state_ = &idle_state_;
  }
  // Calls that have returned and wait for their turn: see held_calls.h.
  void held(uint32_t calls) { state_->held_calls = calls; }
  // A call that has returned, when the window has room for it; the grammar may take it before or
  // after.
  bool try_push(uint32_t terminal, uint64_t ticks) {
    return ticks >> 32 == 0 && try_push_short(terminal, ticks);
  }
  // Of less than 2^32 ticks.
  bool try_push_short(uint32_t terminal, uint64_t ticks) {
    if (next_ >= end_) [[unlikely]]
      return false;
    *next_++ = ticks << 32 | (terminal + 1);
    return true;
  }
  // The same where the time of each call is kept, or the gap before it: the ticks, which stand in
  // front of it.
  static constexpr uint64_t kNoGap = UINT64_MAX;
  bool try_push_timed(uint32_t terminal, uint64_t ticks, uint64_t gap = kNoGap) {
    if (next_ == window_end_ || ticks >> 32 != 0) return false;
    if (gap != kNoGap) {
      if (next_ + 1 == window_end_ || gap >> 32 != 0) return false;
      *next_++ = gap << 32 | format::spool::kGap;
      in_order();
    }
    *next_++ = ticks << 32 | (terminal + 1);
    return true;
  }
  // Whatever the window has room for.
  void push(Location& location, uint32_t terminal, uint64_t ticks, uint64_t gap = kNoGap) {
    if (!try_push(terminal, ticks) && !try_push_timed(terminal, ticks, gap)) [[unlikely]]
      push_slowly(location, terminal, ticks, gap);
  }
  // From now on try_push() fails, so that whoever calls it goes another way, where there is time to
  // keep the time and the gap: nobody else has to ask.
  bool keeps_times() const { return keeps_times_; }
  void keep_times(bool keep) {
    keeps_times_ = keep;
    open_window();
  }
  // When there is no room: a new window, a new log, or a checkpoint. The grammar has the call
  // already.
  static void push_slowly(Location& location, uint32_t terminal, uint64_t ticks,
                          uint64_t gap = kNoGap);

  // -- for Spool --
  void detach() {
    state_ = &idle_state_;
    set_log(idle_, idle_ + kIdleWords);
    thread = nullptr;
  }
  void set_state(format::spool::LocationState* state) {
    *state = *state_;
    state_ = state;
  }
  void set_log(uint64_t* begin, uint64_t* end) {
    next_ = begin, log_end_ = end;
    open_window();
  }
  // try_push() fails after so many words at the latest: see own_time.h.
  void open_window() {
    window_end_ = has_room(kWindow) ? next_ + kWindow : log_end_;
    end_ = keeps_times_ ? nullptr : window_end_;
  }
  bool has_room(uint64_t words) const { return static_cast<uint64_t>(log_end_ - next_) >= words; }
  void put(uint64_t word) { *next_++ = word; }
  SpoolThread* thread = nullptr;  // null: no spool
  uint64_t calls_before = 0;      // in parts that were finished, before those of the grammar

 private:
  static constexpr uint64_t kIdleWords = 16, kWindow = 1024;

  uint64_t* next_;
  uint64_t* end_;         // of the window; null: closed
  uint64_t* window_end_;  // the same, never closed
  uint64_t* log_end_;     // of what is mapped
  bool keeps_times_ = false;
  format::spool::LocationState* state_;
  format::spool::LocationState idle_state_;
  uint64_t idle_[kIdleWords];
};

}  // namespace refrain::tracer
