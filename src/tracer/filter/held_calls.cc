#include "tracer/filter/held_calls.h"

#include <algorithm>
#include <string>
#include <utility>

#include "tracer/calls/append_call.h"
#include "tracer/filter/control.h"
#include "tracer/state/location.h"
#include "tracer/state/process.h"

namespace refrain::tracer {

namespace {

// Of calls that stand as one.
constexpr size_t kMostTimes = size_t{1} << 16;

}  // namespace

// ---- receives ----

void HeldCalls::begin(const RequestEntry* receive, mpi::CallId call, uint64_t posted) {
  const std::lock_guard<std::mutex> lock(mutex_);
  begin_locked(receive, call, posted);
}

void HeldCalls::begin_locked(const RequestEntry* receive, mpi::CallId call, uint64_t posted) {
  give_up_locked(receive);  // the entry is used again: what it was before is over
  receives_[receive] = Receive{posted, call, Verdict::kUndecided, {}};
}

bool HeldCalls::knows(const RequestEntry* request) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return receives_.find(request) != receives_.end();
}

Verdict HeldCalls::verdict(const RequestEntry* receive) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = receives_.find(receive);
  return found == receives_.end() ? Verdict::kKept : found->second.verdict;
}

uint64_t HeldCalls::posted(const RequestEntry* receive) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = receives_.find(receive);
  return found == receives_.end() ? 0 : found->second.posted;
}

void HeldCalls::decide(const RequestEntry* receive, Verdict verdict) {
  const std::lock_guard<std::mutex> lock(mutex_);
  decide_locked(receive, verdict);
}

void HeldCalls::decide_locked(const RequestEntry* receive, Verdict verdict) {
  const auto found = receives_.find(receive);
  if (found == receives_.end() || found->second.verdict != Verdict::kUndecided) return;
  found->second.verdict = verdict;
  for (const Follower& f : found->second.followers) tell(f, verdict);
  found->second.followers.clear();
}

// A call is kept as soon as one of its receives is.
void HeldCalls::tell(const Follower& follower, Verdict verdict) {
  Queue& queue = *queues_[follower.thread];
  if (follower.number < queue.first) return;  // kept without waiting any longer
  HeldCall& call = queue.calls[follower.number - queue.first];
  if (call.verdict != Verdict::kUndecided) return;
  if (verdict == Verdict::kKept || --call.waits_for == 0) call.verdict = verdict;
}

void HeldCalls::give_up(const RequestEntry* receive) {
  const std::lock_guard<std::mutex> lock(mutex_);
  give_up_locked(receive);
}

void HeldCalls::give_up_locked(const RequestEntry* receive) {
  const auto found = receives_.find(receive);
  if (found == receives_.end() || found->second.verdict != Verdict::kUndecided) return;
  ++unknown_[found->second.call];
  decide_locked(receive, Verdict::kKept);
}

void HeldCalls::end(const RequestEntry* receive) {
  const std::lock_guard<std::mutex> lock(mutex_);
  give_up_locked(receive);
  receives_.erase(receive);
}

// ---- calls ----

HeldCalls::Queue& HeldCalls::queue_of(const Location& location) {
  while (queues_.size() <= location.thread) queues_.push_back(std::make_unique<Queue>());
  return *queues_[location.thread];
}

void HeldCalls::wait_for(const Location& location, std::vector<const RequestEntry*> receives,
                         bool begins) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Queue& queue = queue_of(location);
  queue.waits_for = std::move(receives);
  queue.begins = begins;
}

void HeldCalls::will_receive(const Location& location, uint64_t posted) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Queue& queue = queue_of(location);
  queue.will_receive = true;
  queue.posted = posted;
}

void HeldCalls::push(Location& location, HeldCall call, const RequestEntry* made) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Queue& queue = queue_of(location);
  auto receives = std::exchange(queue.waits_for, {});
  if (std::exchange(queue.will_receive, false) && made != nullptr) {
    begin_locked(made, call.call, queue.posted);
    receives.push_back(made);
    queue.begins = true;
  }
  if (std::exchange(queue.begins, false)) call.receive = receives.front();
  judge(call, receives);
  ++queue.held;
  if (queue.calls.empty() || !join(queue.calls.back(), call)) {
    const Follower follower{location.thread, queue.first + queue.calls.size()};
    for (const RequestEntry* receive : receives)
      if (call.waits_for > 0 && receives_[receive].verdict == Verdict::kUndecided)
        receives_[receive].followers.push_back(follower);
    queue.calls.push_back(call);
  }
  if (queue.calls.size() > limit_) keep_unknown(queue.calls.front());
  move_on(location, queue);
}

// Another thread may have decided about some of them meanwhile.
void HeldCalls::judge(HeldCall& call, const std::vector<const RequestEntry*>& receives) const {
  call.verdict = receives.empty() ? Verdict::kKept : Verdict::kDropped;
  for (const RequestEntry* receive : receives) {
    const auto found = receives_.find(receive);
    if (found == receives_.end() || found->second.verdict == Verdict::kKept) {
      call.waits_for = 0;
      call.verdict = Verdict::kKept;
      return;
    }
    if (found->second.verdict == Verdict::kUndecided) ++call.waits_for;
  }
  if (call.waits_for > 0) call.verdict = Verdict::kUndecided;
}

// The same signature names the same requests; while none of them has been decided about, both wait
// for the same.
bool HeldCalls::join(HeldCall& last, const HeldCall& call) {
  if (last.signature != call.signature || last.verdict != call.verdict ||
      last.waits_for != call.waits_for || last.receive != nullptr || call.receive != nullptr ||
      last.outermost != call.outermost || last.times.size() >= kMostTimes)
    return false;
  ++last.count;
  last.times.insert(last.times.end(), call.times.begin(), call.times.end());
  last.sum_ticks += call.sum_ticks;
  last.min_ticks = std::min(last.min_ticks, call.min_ticks);
  last.max_ticks = std::max(last.max_ticks, call.max_ticks);
  return true;
}

void HeldCalls::keep_unknown(HeldCall& call) {
  if (call.verdict != Verdict::kUndecided) return;
  give_up_locked(call.receive);
  call.verdict = Verdict::kKept;
}

bool HeldCalls::flush(Location& location) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Queue& queue = queue_of(location);
  move_on(location, queue);
  return queue.calls.empty();
}

void HeldCalls::move_on(Location& location, Queue& queue) {
  while (!queue.calls.empty() && queue.calls.front().verdict != Verdict::kUndecided) {
    const HeldCall call = queue.calls.front();
    queue.calls.pop_front();
    ++queue.first;
    queue.held -= call.count;
    if (call.verdict == Verdict::kDropped) {
      count_left_out(call.call, call.count);
      continue;
    }
    const HeldSignature held{call.signature, call.call, call.outermost};
    call.each([&](uint64_t begin, uint64_t ticks) { append_held(location, held, begin, ticks); });
  }
  location.spool.held(static_cast<uint32_t>(std::min<uint64_t>(queue.held, UINT32_MAX)));
}

void HeldCalls::flush_all(Process& process) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (Location* l : process.locations) {
    Queue& queue = queue_of(*l);
    for (HeldCall& call : queue.calls) keep_unknown(call);
  }
  // One thread's receives may have decided about another one's calls.
  for (Location* l : process.locations) move_on(*l, queue_of(*l));
}

// ---- what is not known ----

void HeldCalls::count_unknown(mpi::CallId call) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++unknown_[call];
}

void HeldCalls::add_losses(std::vector<format::LossRecord>& losses, int rank) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const mpi::CallInfo& info : mpi::all_calls())
    if (const auto found = unknown_.find(info.id); found != unknown_.end())
      losses.push_back({"size_unknown", found->second, rank, std::string(info.name)});
}

}  // namespace refrain::tracer
