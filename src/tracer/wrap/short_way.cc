// What CallScope does at the end of a call that is what the grammar expects, or that was made
// before in the same way, and what these ways share with the long one.

#include "tracer/calls/append_call.h"
#include "tracer/requests/request_lanes.h"
#include "tracer/state/location.h"
#include "tracer/state/process.h"
#include "tracer/times/call_times.h"
#include "tracer/times/time_log.h"
#include "tracer/wrap/call_scope.h"

namespace refrain::tracer {

// Budget: 50 instructions, and what the grammar takes at the end of a symbol. Functions are
// called at its end only: else all that is needed behind a call is saved on the stack first.
void CallScope::again(CallMemo& memo) {
  RecordedThread& l = *location_;
  // Whoever jumps out of here must be noticed; the fences keep both stores where they are.
  l.in_recorder = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const uint64_t ticks = end_ticks_ - begin_ticks_;
  if (static_cast<int64_t>(ticks) <= 0) [[unlikely]]
    return again_beside(memo, 0);
  count_time(l, ticks);
  if (!memo.count_in_window(ticks, TerminalStats::bucket_of_some(ticks))) [[unlikely]]
    return again_beside(memo, ticks);
  static_assert(CallMemo::kMostTicksBits <= 32);
  if (l.spool.try_push_short(static_cast<uint32_t>(l.grammar.expected()), ticks)) [[likely]]
    l.grammar.append_expected();
  else
    again_slowly(ticks);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  l.in_recorder = false;
}

// Of a duration that the window has no place for, or of none, as simulated calls may have.
[[gnu::noinline, gnu::cold]] void CallScope::again_beside(CallMemo& memo, uint64_t ticks) {
  RecordedThread& l = *location_;
  if (ticks == 0) {
    count_time(l, 0);
    memo.count_one(0);
  } else {
    memo.count_beside(ticks);
  }
  if (l.spool.try_push(static_cast<uint32_t>(l.grammar.expected()), ticks))
    l.grammar.append_expected();
  else
    again_slowly(ticks);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  l.in_recorder = false;
}

[[gnu::noinline, gnu::cold]] void CallScope::again_slowly(uint64_t ticks) {
  RecordedThread& l = *location_;
  const auto terminal = static_cast<uint32_t>(l.grammar.expected());
  const Clock& clock = l.process->clock;
  l.grammar.append_expected();
  uint64_t gap = SpoolLog::kNoGap;
  if (l.spool.keeps_times()) {
    gap = keep_time(l, terminal);
    if (l.spool.try_push_timed(terminal, ticks, gap)) {
      if (l.times != nullptr) compare_clocks(l, call(), terminal);
      return;
    }
  }
  const uint64_t begin = clock.ticks();
  l.own_time.sample(begin - end_ticks_, calls_of(l));
  l.spool.push_slowly(l, terminal, ticks, gap);
  const uint64_t end = clock.ticks();
  l.own_time.add(end - begin);
  l.note_own_work(end);
  if (l.times != nullptr) compare_clocks(l, call(), terminal);
}

uint64_t CallScope::keep_time(Location& l, uint32_t terminal) {
  const uint64_t end = begin_ticks_ + duration();
  if (l.times != nullptr) l.times->push(l, terminal, call(), begin_ticks_, end);
  return l.gaps == nullptr ? SpoolLog::kNoGap
                           : count_gap(l, terminal, l.depth == 1, begin_ticks_, end);
}

// Budget: 70 instructions.
bool CallScope::add_request(const CallMemo& memo, MPI_Request* request) {
  if (memo.request == nullptr || *request == MPI_REQUEST_NULL) return false;
  RequestLane& lane = *location_->requests;
  if (lane.has_neighbours) [[unlikely]]
    return add_request_again(lane, *memo.request, handle_key(*request), request);
  return lane.table.add_again(*memo.request, handle_key(*request), request);
}

// Under a bound of memory the tables may have begun anew, which extend_grammar() finds out.
bool CallScope::recurs_array(const uint64_t* words, size_t count, MPI_Request* request) {
  RecordedThread& l = *location_;
  if (!l.memos.has_known() || l.process->is_bounded() ||
      has_slow_path_reason(slow_path_reasons::kOutOfMemory))
    return false;
  l.in_recorder = true;
  const CallMemo* const next = l.memos.find(l.grammar.expected());
  if (next != nullptr && next->path != nullptr && next->path->still_holds(address_, frame_))
    path_ = next->path;
  else
    find_path();
  l.in_recorder = false;
  CallMemo* const m = l.memos.known(MemoIndex::hash(call_, path_->definition, words, count));
  if (m == nullptr || m->call != call_ || m->path_definition != path_->definition ||
      m->handle_changes != l.process->handle_changes.load(std::memory_order_relaxed) ||
      !m->same_words(words, count) || (request != nullptr && !add_request(*m, request)))
    return false;
  l.in_recorder = true;
  m->path = path_;
  terminal_ = m->terminal;
  const uint64_t ticks = duration();
  m->count_one(ticks);
  append_to_grammar(l, terminal_);
  close_call(ticks);
  return true;
}

void CallScope::memorise_array(const uint64_t* words, size_t count) {
  RecordedThread& l = *location_;
  Process& p = *l.process;
  CallMemo* const known = rc_ == MPI_SUCCESS ? l.memos.find(terminal_) : nullptr;
  // The fast path has no calls that wait for a size, nor with types that others make unseen.
  if (known == nullptr || (call_ & kSizedCall) != 0 || l.encoder.has_described()) return;
  CallMemo& m = *known;
  if (!m.remember(call_, *path_, p.handle_changes.load(std::memory_order_relaxed), words, count))
    return;
  l.encoder.memorise_request(m);
  l.memos.know(MemoIndex::hash(call_, path_->definition, words, count), m);
}

void CallScope::compare_clocks(Location& l, mpi::CallId call, uint32_t terminal) {
  CallTimes& times = *l.process->times;
  if (times.wants(call)) [[unlikely]]
    times.call_ended(l, terminal);
}

}  // namespace refrain::tracer
