// GapLog: how long the program did something else before each call of a location, by terminal:
// `record --gaps`.
//
//   end of a call --own work--|-------- gap --------| begin of the next one of the thread
//
// The first call of a thread and calls inside of another one have no gap: it counts as 0, so that
// there are as many gaps as calls. Own work is what note_own_work() is told of; behind a call of
// the short way it is some tens of ns, and in the gap. Time in calls that are left out is in it,
// too.
//
// Laws: belongs to one location, which alone counts in it; terminals count from
// Location::first_terminal, as those of memos do. The short way of a call does not ask for it: see
// SpoolLog::keep_times().
// Budget: 40 instructions a call.
#pragma once

#include <cstdint>
#include <vector>

#include "tracer/state/call_memo.h"

namespace refrain::tracer {

class GapLog {
 public:
  static constexpr uint64_t kNotCalled = UINT64_MAX;

  // Ticks before a call that began then.
  uint64_t before(uint64_t begin_ticks) const {
    return from_ == 0 || begin_ticks <= from_ ? 0 : begin_ticks - from_;
  }
  // The next gap begins then, at the earliest.
  void idle_from(uint64_t ticks) {
    if (ticks > from_) from_ = ticks;
  }
  // False, once: there is no memory for it, and the gaps are those of some calls only.
  bool count(uint32_t terminal, uint64_t ticks) {
    CallMemo* const memo = others_.find(terminal);
    if (memo == nullptr) [[unlikely]]
      return count_new(terminal, ticks);
    memo->count_one(ticks);
    return true;
  }
  bool is_whole() const { return is_whole_; }

  // Terminals up to this number may have some: of the first call, and of others.
  uint32_t size() const { return static_cast<uint32_t>(first_.size()); }
  uint64_t first(uint32_t terminal) const { return first_[terminal]; }
  const CallMemo* others(uint32_t terminal) const { return others_.find(terminal); }
  // Begins anew; the next gap is as before.
  void clear();

 private:
  bool count_new(uint32_t terminal, uint64_t ticks);
  bool no_memory();

  uint64_t from_ = 0;
  bool is_whole_ = true;
  std::vector<uint64_t> first_;
  CallMemos others_;
};

}  // namespace refrain::tracer
