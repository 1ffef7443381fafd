// CallOrder: the calls of one location in the order of their begins, each with times.
//
// A trace has calls in the order of their ends: a call inside a callback comes before the call
// around it. Viewers need nested intervals, so some calls are read ahead and a call is moved in
// front of the calls that it contains. Intervals that overlap without nesting (times with an error
// bound) are cut.
//
// A call without times gets constructed ones: it begins after the previous call and the mean pause
// of its rank between calls, and has the mean duration of its signature. Both are scaled to the
// recorded time of the rank in and outside of MPI.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>

#include "events/call_source.h"
#include "refrain/calls.h"

namespace refrain::events {

// How times are built where there are none.
struct Pace {
  double gap_ns = 0;  // from one call to the next
  double factor = 1;  // of the mean duration of a call's signature
};
// Of a rank; from its totals, where the trace has them.
Pace pace_of(const Trace& trace, Rank rank);

class CallOrder : public CallStream {
 public:
  // Calls that are read ahead.
  static constexpr size_t kAhead = 1024;

  struct Counts {
    uint64_t built = 0;  // calls without a time
    uint64_t cut = 0;    // whose times were moved
  };

  CallOrder(const Trace& trace, Cursor cursor, Pace pace, Counts& counts)
      : trace_(trace), cursor_(std::move(cursor)), pace_(pace), counts_(counts) {}

  bool next(ClockedCall& call) override;
  // Constructed times go on as if there were no calls between.
  bool skip_to(uint64_t seq) override;

 private:
  bool read();
  void place(ClockedCall call);

  const Trace& trace_;
  Cursor cursor_;
  Pace pace_;
  Counts& counts_;
  struct Held {
    ClockedCall call;
    uint64_t reach_ns = 0;  // the last end of this and all before it
  };
  std::deque<Held> held_;
  uint64_t last_end_ = 0;   // of all calls so far
  uint64_t given_end_ = 0;  // of those that were given out
  double built_end_ = 0;    // with a fraction of a ns
  bool is_first_ = true;
};

}  // namespace refrain::events
