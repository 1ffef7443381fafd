#include "events/by_rank/call_order.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "format/trace_data.h"
#include "reader/internal.h"

namespace refrain::events {

// A trace without times of single calls has statistics of each signature, and sums of each rank.
// From these a plausible run is built: calls of mean length, the time outside of MPI dealt out
// evenly between them.
Pace pace_of(const Trace& trace, Rank rank) {
  Pace out;
  const auto& totals = reader::data_of(trace).totals;
  const auto group = trace.group_of(rank);
  if (!group || rank < 0 || static_cast<size_t>(rank) >= totals.size()) return out;
  double mean_ns = 0;
  uint64_t calls = 0;
  for (const Trace::Occurrence& seen : trace.occurrences(*group)) {
    const Durations d = trace.durations(seen.signature);
    if (d.count > 0)
      mean_ns += d.sum_ns / static_cast<double>(d.count) * static_cast<double>(seen.calls);
    calls += seen.calls;
  }
  const format::RankTotals& total = totals[static_cast<size_t>(rank)];
  const auto threads = std::max<uint64_t>(1, trace.group_locations(*group).size());
  // n calls of a thread have n - 1 gaps between them.
  if (calls > threads)
    out.gap_ns = static_cast<double>(total.outside_ns) / static_cast<double>(calls - threads);
  // Means are of all ranks that share the signature: the factor makes them add up to the time of
  // this one.
  if (mean_ns > 0 && total.in_mpi_ns > 0)
    out.factor = static_cast<double>(total.in_mpi_ns) / mean_ns;
  return out;
}

bool CallOrder::read() {
  const Call* call = cursor_.next();
  if (call == nullptr) return false;
  ClockedCall timed;
  timed.signature = call->signature;
  timed.seq = call->seq;
  if (call->has_time) {
    timed.begin_ns = call->begin_ns;
    timed.end_ns = call->end_ns;
  } else {
    ++counts_.built;
    const Durations d = trace_.durations(call->signature->id);
    const double mean = d.count > 0 ? d.sum_ns / static_cast<double>(d.count) : 0;
    // In floating numbers, as gaps of less than a nanosecond each would add up to none.
    const double begin =
        std::max(built_end_, static_cast<double>(last_end_)) + (is_first_ ? 0 : pace_.gap_ns);
    built_end_ = begin + mean * pace_.factor;
    timed.begin_ns = static_cast<uint64_t>(begin);
    timed.end_ns = static_cast<uint64_t>(built_end_);
  }
  is_first_ = false;
  place(timed);
  return true;
}

void CallOrder::place(ClockedCall call) {
  call.end_ns = std::max(call.end_ns, call.begin_ns);
  // The rule: calls one after the other.
  if (call.begin_ns >= last_end_) {
    last_end_ = call.end_ns;
    held_.push_back({call, last_end_});
    return;
  }
  // The calls at the end that begin with it or later are inside of it, if what is before them has
  // ended by then.
  size_t at = held_.size();
  while (at > 0 && held_[at - 1].call.begin_ns >= call.begin_ns) --at;
  // What was given out already cannot be moved: a call may begin no earlier than its end.
  uint64_t before = at == 0 ? given_end_ : held_[at - 1].reach_ns;
  if (at < held_.size() && before > held_[at].call.begin_ns) at = held_.size(), before = last_end_;
  const uint64_t begin = std::max(call.begin_ns, before);
  const uint64_t end = std::max({call.end_ns, last_end_, begin});
  // Times that neither follow nor contain each other are cut until they do. Formats with enter and
  // leave have nothing for them.
  if (begin != call.begin_ns || end != call.end_ns) ++counts_.cut;
  call.begin_ns = begin;
  call.end_ns = end;
  last_end_ = end;
  held_.insert(held_.begin() + static_cast<std::ptrdiff_t>(at), {call, end});
  for (size_t i = at + 1; i < held_.size(); ++i) held_[i].reach_ns = end;
}

bool CallOrder::skip_to(uint64_t seq) {
  held_.clear();
  cursor_.seek(seq);
  return true;
}

bool CallOrder::next(ClockedCall& out) {
  // A call that contains others is recorded behind them: so many calls ahead it is still found in
  // time. Constructed times are one after the other.
  const size_t ahead = trace_.has_times() ? kAhead : 0;
  while (held_.size() <= ahead && read()) {
  }
  if (held_.empty()) return false;
  out = held_.front().call;
  held_.pop_front();
  given_end_ = std::max(given_end_, out.end_ns);
  return true;
}

}  // namespace refrain::events
