#include "events/by_rank/skeleton.h"

#include <algorithm>
#include <utility>

namespace refrain::events {

std::optional<SkeletonEnd> Skeleton::transfer(const Step& step) {
  const bool sends = step.kind == StepKind::kSend || step.kind == StepKind::kPostSend;
  if (!step.has_message) return std::nullopt;
  SkeletonEnd out;
  out.sends = sends;
  out.peer = scope_.position(sends ? step.channel.dest : step.channel.source);
  // A simulator would wait for ever for the other end.
  if (!survey_.is_whole(step) || out.peer < 0) {
    scope_.not_held("ends of messages whose other end is not there");
    return std::nullopt;
  }
  if (sends && step.op->send.is_synchronous)
    scope_.not_held("that synchronous sends wait for their receives");
  out.tag = tags_.of(step.channel.comm, step.channel.tag, step.number);
  // A message of no bytes has one here: to replays that is the difference to none.
  out.bytes = std::max<uint64_t>(1, survey_.bytes(step).value_or(step.bytes));
  ++(sends ? scope_.tally.sends : scope_.tally.receives);
  return out;
}

bool Skeleton::is_whole(const Op& op, uint64_t number) {
  return survey_.has_all_members(op) && survey_.is_whole(op, number);
}

void Skeleton::add_step(const Step& step, std::vector<SkeletonEnd>& together) {
  // MPI_Isendrecv is two ends with one request: an even number for the send, an odd one for the
  // receive.
  const uint64_t request = step.request * 2;
  const auto wait = [&](uint64_t id) {
    // A request whose begin was left out is not waited for.
    if (open_.erase(id) > 0) flush(), sink_.wait(id);
  };
  switch (step.kind) {
    case StepKind::kSend:
    case StepKind::kReceive:
      if (const auto one = transfer(step)) together.push_back(*one);
      return;
    case StepKind::kPostSend:
    case StepKind::kPostReceive:
      if (const auto one = transfer(step)) {
        const uint64_t id = request + (one->sends ? 0 : 1);
        open_.insert(id);
        flush();
        sink_.post(*one, id);
      }
      return;
    case StepKind::kPostCollective:
      if (!is_whole(*step.op, step.collective)) {
        scope_.not_held("collective calls that not all members make");
        return;
      }
      ++scope_.tally.collectives;
      open_.insert(request);
      flush();
      sink_.collective(*step.op, *step.made_by, step.collective, request);
      return;
    case StepKind::kSendDone:
    case StepKind::kCollectiveDone: return wait(request);
    case StepKind::kReceiveDone: return wait(request + 1);
    default: return;
  }
}

void Skeleton::add(const Event& event) {
  if (!turns_)
    turns_ = threads_ == Threads::kAsOne && scope_.trace.locations(event.rank).size() > 1;
  // A rank of the skeleton is one thread. The calls of several threads take turns there in the
  // order in which they end, because what a call gives to others is there at its end.
  if (!*turns_) return take(event);
  while (!held_.empty() && held_.front().end_ns <= event.begin_ns) take_first();
  held_.push_back(event);
  std::push_heap(held_.begin(), held_.end(), Later());
}

void Skeleton::take_first() {
  std::pop_heap(held_.begin(), held_.end(), Later());
  const Event event = std::move(held_.back());
  held_.pop_back();
  take(event);
}

void Skeleton::take(const Event& event) {
  const Op& op = *event.op;
  // Said once for each call, and the call then is what it is to the simulator: time that passes.
  if (op.action == Action::kWindowEpoch && event.in_window)
    scope_.not_held("one-sided communication: its time is computation");
  const bool communicates =
      op.action != Action::kNothing && op.action != Action::kWindowEpoch &&
      !(op.action == Action::kCollective && op.collective == CollectiveKind::kFinalize);
  if (!event.in_window) return;
  ++scope_.tally.calls;
  const uint32_t thread = threads_ == Threads::kApart ? event.thread : 0;
  const bool is_first = state_.empty();
  const auto [known, is_new] = state_.try_emplace(thread);
  now_ = &known->second;
  reader::CallGaps& gaps = now_->gaps;
  if (is_new) {
    gaps = reader::CallGaps(scope_.trace, event.rank, thread);
    // What is before the first call of the window, or MPI_Init, is nobody's computation. A thread
    // that begins later computes until then: those of a simulator all begin at once.
    gaps.busy_until(is_first ? event.begin_ns : begin_ns_);
  }
  if (is_first) begin_ns_ = begin_of_others(event);
  sink_.thread(thread);
  const bool is_last =
      op.action == Action::kCollective && op.collective == CollectiveKind::kFinalize;
  const bool is_of_others = event.thread != thread;  // of several threads in turns
  if (!communicates && !is_last)
    return is_of_others ? gaps.count_as_gap_of_others() : gaps.count_as_gap(event);
  // Gaps add up until something is done that others can see: one line of output for all calls in
  // between that do not communicate.
  now_->computed_ns += *(is_of_others ? gaps.before_others(event) : gaps.before(event));
  if (is_last) return flush();
  std::vector<SkeletonEnd> together;
  for (const Step& step : event.steps) add_step(step, together);
  // Ends of one call are under way together (MPI_Sendrecv), or two ranks that exchange would wait
  // for each other.
  if (!together.empty()) flush(), sink_.exchange(together);
  if (op.action != Action::kCollective || op.makes_request ||
      op.collective == CollectiveKind::kInit)
    return;
  if (!is_whole(op, event.collective.number)) {
    scope_.not_held("collective calls that not all members make");
    return;
  }
  ++scope_.tally.collectives;
  flush();
  sink_.collective(op, *event.call, event.collective.number, std::nullopt);
}

uint64_t Skeleton::begin_of_others(const Event& first) const {
  const Op& op = *first.op;
  if (op.action != Action::kCollective || op.collective != CollectiveKind::kInit)
    return first.begin_ns;
  // The recorder works behind MPI_Init.
  if (!scope_.trace.has_times()) return first.end_ns;
  return first.end_ns + reader::OwnWorkAfter(scope_.trace, first.rank, first.thread)(first.seq);
}

void Skeleton::flush() {
  if (now_ == nullptr) return;
  if (now_->computed_ns > 0) sink_.compute(now_->computed_ns);
  now_->computed_ns = 0;
}

void Skeleton::finish() {
  while (!held_.empty()) take_first();
  for (auto& [number, thread] : state_) {
    now_ = &thread;
    sink_.thread(number);
    flush();
  }
  // Requests that the program never completed, or outside of the window. In order, as a set of
  // hashes would make the output differ from run to run.
  std::vector<uint64_t> rest(open_.begin(), open_.end());
  std::sort(rest.begin(), rest.end());
  for (const uint64_t request : rest) sink_.wait(request);
  open_.clear();
}

Status with_tags(Scope& scope, Survey& survey, Tags& tags,
                 const std::function<Status(bool writes)>& walk) {
  Status done = base::Done{};
  if (!tags.have_room(survey.tags())) {
    scope.expect_passes(2);
    // The first walk only notes tags: what it counts is counted again.
    const Tally before = scope.tally;
    tags.begin_notes();
    done = walk(false);
    if (done.ok()) done = tags.end_notes();
    if (done.ok()) done = survey.rewind();
    scope.tally = before;
  }
  if (done.ok()) done = walk(true);
  if (done.ok()) done = survey.status();
  return done.ok() ? tags.status() : done;
}

}  // namespace refrain::events
