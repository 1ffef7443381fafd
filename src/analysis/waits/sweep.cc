// The events of all locations in the order of time, the repair of times, and the bookkeeping of
// waits. What single kinds of calls wait for is in sweep_*.cc.
//
// Laws: at the end of a call every call that could have kept it has begun, or the location is held
// until it has. Where that never comes (an incomplete trace), patience ends the holding.

#include "analysis/waits/sweep.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace refrain::analysis::waits {
namespace {

// Calls further apart do something between them.
constexpr uint64_t kPollGapNs = 10'000;

// So many lines of the cache.
void fetch(const void* at, int lines) {
  for (int i = 0; i < lines; ++i) __builtin_prefetch(static_cast<const char*>(at) + 64 * i);
}

}  // namespace

// Up to `until_ns`, for a source that grows: calls that have not come yet may still begin before
// anything that is later.
bool Sweep::advance(uint64_t until_ns, uint64_t most_events) {
  return go_on(until_ns, most_events);
}

void Sweep::finish() {
  (void)go_on(std::nullopt, UINT64_MAX);
  if (options_.observer != nullptr) tell_rest();
}

// One event at a time, the earliest of all locations. A timeout that is due comes before it, and
// when there are no events left, timeouts are all that can go on: the calls that the held ones need
// never come.
// False: there is more to do.
bool Sweep::go_on(std::optional<uint64_t> until_ns, uint64_t most_events) {
  limit_ns_ = until_ns.value_or(UINT64_MAX);
  // Those that had no more calls when the source ended last time. next_call() lowers the limit
  // again for those that still have none: nothing that is later than the first unknown call may be
  // decided.
  for (const uint32_t location : std::exchange(waiting_, {})) next_call(location);
  while (!events_.empty() || !timeouts_.empty()) {
    // Patience is measured in the time of the trace. Wall time would make the result depend on the
    // machine that analyses.
    const bool gives_up =
        events_.empty() || (!timeouts_.empty() && timeouts_[0].time < events_.top().time);
    if (until_ns && (gives_up ? timeouts_[0].time : events_.top().time) >= limit_ns_) break;
    if (most_events-- == 0) {
      swept_ns_ = std::max(swept_ns_, now_);
      return false;
    }
    if (gives_up) {
      end_patience();
      continue;
    }
    const Event event = events_.top();
    events_.pop();
    fetch_next();
    now_ = std::max(now_, event.time);
    if (event.kind == EventKind::kBegin)
      begin(event.location);
    else
      end(event.location);
  }
  swept_ns_ = std::max(swept_ns_, until_ns ? limit_ns_ : now_);
  return true;
}

// Asks the memory for what the next events need: with thousands of ranks nothing of a location is
// in the cache when its turn comes.
void Sweep::fetch_next() const {
  events_.for_next([&](uint32_t location, bool is_next) {
    const LocationState& l = locations_[location];
    if (!is_next) return fetch(&l, 5);
    fetch(l.current.op, 3);
    fetch(l.calls.get(), 1);
    fetch(&ranks_[static_cast<size_t>(l.rank)], 1);
  });
}

// The location's next call, its times repaired: what is between two calls keeps its length, and
// time inside of a call gives way until nothing is shifted any more.
void Sweep::next_call(uint32_t location) {
  LocationState& l = locations_[location];
  if (!l.calls->next(l.current)) {
    if (!l.calls->has_ended()) {
      limit_ns_ = std::min(limit_ns_, l.calls->pending_ns());
      return waiting_.push_back(location);
    }
    RankState& rank = rank_of(l);
    --rank.live_threads;
    // For join(): the thread of this rank that ended last.
    if (l.end_of_last >= rank.joined_ns) rank.joined = l.last_node, rank.joined_ns = l.end_of_last;
    return;
  }
  StagedCall& call = l.current;
  // Damaged traces have such calls, and clocks that jump make them: the sweep must never see time
  // run backwards within a location.
  if (call.end_ns < call.begin_ns) {
    ++counts_.negative_durations;
    call.end_ns = call.begin_ns;
  }
  // A call whose callback called MPI ends after, and began before, the calls of its callback.
  if (l.has_begun && call.begin_ns < l.recorded_end) {
    if (call.end_ns < l.recorded_end) ++counts_.backward_times;
    call.begin_ns = l.recorded_end;
    call.end_ns = std::max(call.end_ns, call.begin_ns);
  }
  l.begin = call.begin_ns + l.shift;
  l.end = std::max(call.end_ns, l.begin);
  counts_.calls += options_.window.has(l.begin) ? 1 : 0;
  events_.push(l.begin, EventKind::kBegin, location);
}

// Between two calls the program works: in the ideal run, in which nobody waits, that takes as long,
// without the recorder's own part of it. After MPI_Finalize has begun nothing counts any more.
void Sweep::measure_begin(uint32_t location) {
  LocationState& l = locations_[location];
  uint64_t gap = l.has_begun ? l.begin - l.end_of_last : 0;
  if (l.own_ns > 0) gap -= own_work_before(location, gap);
  const uint64_t ideal_before = l.ideal;
  if (!l.has_begun) {
    l.first_begin = l.start_ns = l.begin;
    l.has_begun = true;
  }
  if (!l.has_finished) {
    l.ideal += gap;
    l.gaps += gap;
    l.useful += options_.window.part(l.begin - gap, l.begin);
    measure_ideal(l, l.begin - gap, l.begin, ideal_before);
  }
  const Op& op = *l.current.op;
  if (op.action == Action::kCollective && op.collective == CollectiveKind::kFinalize) {
    l.has_finished = true;
    l.finish_ns = l.begin;
    l.ideal_finish = l.ideal;
  }
}

// Of the ideal run, as far as it is inside of the window on this location: what it was when the
// window began and when it ended. It was `before` at `since`, and is what it is now at `until`.
void Sweep::measure_ideal(LocationState& l, uint64_t since, uint64_t until, uint64_t before) const {
  const Window& window = options_.window;
  const auto at = [&](uint64_t ns) { return std::min(l.ideal, before + (ns - since)); };
  if (until <= window.from_ns)
    l.ideal_from = l.ideal;
  else if (since < window.from_ns)
    l.ideal_from = at(window.from_ns);
  if (until <= window.to_ns)
    l.ideal_to = l.ideal;
  else if (since < window.to_ns)
    l.ideal_to = at(window.to_ns);
}

// A run begins with the end of MPI_Init: what was measured before is forgotten. `shift` is by how
// much repaired times are behind the recorded ones; the next call of the location takes it over.
void Sweep::measure_end(LocationState& l) {
  const Op& op = *l.current.op;
  if (op.action == Action::kCollective && op.collective == CollectiveKind::kInit) {
    l.start_ns = l.end;
    l.ideal = l.ideal_from = l.ideal_to = 0;
    l.gaps = l.useful = 0;
  }
  l.recorded_end = l.current.end_ns;
  l.shift = l.end - l.recorded_end;
  l.end_of_last = l.end;
  while (l.piece != l.pieces_end && l.piece->call < l.current.seq) ++l.piece;
  l.own_ns = l.piece != l.pieces_end && l.piece->call == l.current.seq ? l.piece->ns : 0;
  if (!l.has_finished) {
    l.finish_ns = l.end;
    l.ideal_finish = l.ideal;
  }
  l.total = std::max(l.total, options_.window.part(l.first_begin, l.end));
}

// A call begins: its ends of messages, requests and collectives are there for others from now on.
void Sweep::begin(uint32_t location) {
  LocationState& l = locations_[location];
  measure_begin(location);
  const Op& op = *l.current.op;
  // First, because what begins refers to the node: others may end their waits with it.
  append_node(location);
  switch (op.action) {
    case Action::kSend:
    case Action::kReceive:
    case Action::kSendReceive:
    case Action::kProbe:
    case Action::kMatchedProbe:
    case Action::kMatchedReceive: begin_message(location); break;
    case Action::kStart: begin_start(location); break;
    case Action::kReady: begin_ready(location); break;
    case Action::kCancel: begin_cancel(location); break;
    case Action::kCollective: begin_collective(location); break;
    case Action::kOtherCollective: begin_other(location); break;
    case Action::kWindowEpoch: begin_window(location); break;
    case Action::kNothing:
    case Action::kComplete:
    case Action::kFree: break;
  }
  events_.push(l.end, EventKind::kEnd, location);
}

// A loop that asks for a message in vain, and does nothing else, is one node, or the log would be
// full of its calls.
void Sweep::append_node(uint32_t location) {
  LocationState& l = locations_[location];
  const Op& op = *l.current.op;
  if (op.is_poll && l.last_is_poll && l.last_place == op.place && l.last_node != kNoNode &&
      l.begin - l.end_of_last <= kPollGapNs) {
    l.node = l.last_node;
    return;
  }
  RankState& rank = rank_of(l);
  const NodeId before = l.last_node != kNoNode ? l.last_node : rank.last_node;
  Node node;
  node.seq = l.current.seq;
  node.begin = l.begin;
  node.end = l.end;
  node.location = location;
  node.place = op.place;
  const NodeId id = log_.nodes.size();
  // Nodes are linked backwards by distance, in 4 bytes of the record of which there is one for each
  // call. A link that is too long is left out: paths end there.
  if (before != kNoNode && id - before <= UINT32_MAX)
    node.back = static_cast<uint32_t>(id - before);
  l.node = l.last_node = rank.last_node = log_.nodes.append(node);
  l.last_place = op.place;
  l.last_is_poll = op.is_poll;
  l.polled_ns = 0;
  if (rank.joined != kNoNode && rank.live_threads == 1) join(l);
}

// A call ends if all that it needs has happened; else it is held. May run several times for one
// call.
void Sweep::end(uint32_t location) {
  LocationState& l = locations_[location];
  releases_.clear();
  received_.clear();
  sent_.clear();
  ideal_ = 0;
  has_completion_ = is_unsuccessful_ = false;
  const Op& op = *l.current.op;
  l.calls->prefetch();
  bool ready = true;
  switch (op.action) {
    case Action::kSend:
    case Action::kReceive:
    case Action::kSendReceive:
    case Action::kProbe:
    case Action::kMatchedProbe:
    case Action::kMatchedReceive: ready = collect_messages(location); break;
    case Action::kComplete: ready = collect_requests(location); break;
    case Action::kCollective:
    case Action::kOtherCollective:
      if (l.in_instance) ready = collect_collective(location, l.instance, op, true);
      break;
    case Action::kWindowEpoch: collect_window(location); break;
    case Action::kNothing:
      if (op.is_poll) collect_probe_in_vain(l);
      break;
    default: break;
  }
  if (!ready && !l.gave_up) return hold(location);
  finish_call(location);
}

// The serial tells the timeout of this holding from those of earlier ones, which are left in the
// heap.
void Sweep::hold(uint32_t location) {
  LocationState& l = locations_[location];
  // Its timeout is running already: one that asks again does not get more patience.
  if (l.is_held) return;
  l.is_held = true;
  // Most are held for a moment: their timeouts are swept out before they are many.
  if (timeouts_.size() > 1024 + 2 * locations_.size()) {
    timeouts_.erase(std::remove_if(timeouts_.begin(), timeouts_.end(),
                                   [&](const Timeout& t) { return is_over(t); }),
                    timeouts_.end());
    std::make_heap(timeouts_.begin(), timeouts_.end(), std::greater<>());
  }
  // A file's operation need not wait for all: that it left first says so, but for errors of times.
  const bool is_file = l.current.op->action == Action::kOtherCollective &&
                       l.current.op->collective == CollectiveKind::kFile;
  const uint64_t patience_ns = is_file ? (l.end - l.begin) / 20 : options_.patience_ns;
  timeouts_.push_back({l.end + patience_ns, location, ++l.serial});
  std::push_heap(timeouts_.begin(), timeouts_.end(), std::greater<>());
}

bool Sweep::is_over(const Timeout& timeout) const {
  const LocationState& l = locations_[timeout.location];
  return !l.is_held || l.serial != timeout.serial;
}

// What the call waits for is lost, or the clocks are that far apart: it ends without, and its
// location goes on.
void Sweep::end_patience() {
  std::pop_heap(timeouts_.begin(), timeouts_.end(), std::greater<>());
  const Timeout timeout = timeouts_.back();
  timeouts_.pop_back();
  now_ = std::max(now_, timeout.time);
  if (is_over(timeout)) return;
  locations_[timeout.location].gave_up = true;
  wake(timeout.location);
}

// Not the end itself but an event for it: whoever wakes is in the middle of a call of its own.
void Sweep::wake(uint32_t location) {
  LocationState& l = locations_[location];
  if (!l.is_held) return;
  l.is_held = false;
  events_.push(now_, EventKind::kEnd, location);
}

// The call has ended: repair, waits, and what it leaves.
void Sweep::finish_call(uint32_t location) {
  LocationState& l = locations_[location];
  const auto not_before = [&](uint64_t ns) {
    if (ns <= l.end) return;
    ++counts_.repaired_messages;
    counts_.repaired_ns_most = std::max(counts_.repaired_ns_most, ns - l.end);
    l.end = ns;
  };
  for (const MessageId id : received_)
    if (messages_.at(id).is_sent) not_before(messages_.at(id).sent_ns);
  for (const MessageId id : sent_) not_before(messages_.at(id).posted_ns);  // synchronous ones
  mark_received(l);
  emit(l);
  if (!l.has_finished) {
    const uint64_t before = l.ideal;
    l.ideal = std::max(l.ideal, ideal_);
    measure_ideal(l, l.begin, l.end, before);
  }
  Op& op = *l.current.op;
  // The node has its end before anybody is told of the call, and messages are dropped after that,
  // because the observer reads them.
  end_node(l);
  if (options_.observer != nullptr) tell_completed(l);
  drop_messages(l);
  if (op.action == Action::kComplete || op.action == Action::kFree)
    for (RequestUse& use : op.requests) finish_request(l, use);
  if (l.in_instance) leave(l, l.instance, op, true);
  l.in_instance = false;
  if (op.action == Action::kWindowEpoch) end_window(location);
  // For this call only: the next one is held again with full patience.
  l.gave_up = false;
  measure_end(l);
  next_call(location);
}

std::vector<NodeId> Sweep::last_nodes() const {
  std::vector<NodeId> out;
  for (const LocationState& l : locations_) out.push_back(l.last_node);
  return out;
}

}  // namespace refrain::analysis::waits
