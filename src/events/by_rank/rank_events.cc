// Nothing here looks at another rank. What the other end of a message is follows from its number on
// its channel, which each rank counts for itself: MPI does not let messages of one channel overtake
// each other. So the order in which this rank begins its sends and posts its receives is all that
// has to be right, and the ranks can be read one after the other.

#include "events/by_rank/rank_events.h"

#include <algorithm>
#include <utility>

#include "mpi/call_ids.h"
#include "mpi/call_table.h"

namespace refrain::events {

namespace {

// Whether the rank ever calls MPI_Cancel. Known from the totals of its group, without walking its
// calls.
bool cancels(const Trace& trace, Rank rank) {
  const auto group = trace.group_of(rank);
  if (!group) return false;
  const auto& seen = trace.occurrences(*group);
  return std::any_of(seen.begin(), seen.end(), [&](const Trace::Occurrence& one) {
    return trace.call_of(one.signature) == mpi::kMPI_Cancel;
  });
}

}  // namespace

RankEvents::RankEvents(Scope& scope, World& world, Rank rank)
    : scope_(scope),
      world_(world),
      own_(std::make_unique<DecodedRank>(scope.trace, world, rank)),
      decoded_(*own_) {}

RankEvents::RankEvents(Scope& scope, World& world, DecodedRank& decoded)
    : scope_(scope), world_(world), decoded_(decoded) {}

// A receive that will be cancelled may not get a number when it is posted, as the next one gets its
// message; but that it will be is known only at the MPI_Cancel. Therefore the rank is walked once
// more in front, by a reader of its own that gives numbers to nobody. It counts posts as this one
// will, so that they agree on which receive is meant.
void RankEvents::scout() {
  World world(scope_.trace);
  RankEvents scout(scope_, world, decoded_.reader.rank());
  scout.is_scout_ = true;
  while (scout.next() != nullptr) {
  }
  cancelled_ = std::move(scout.cancelled_);
}

void RankEvents::open() {
  is_open_ = true;
  decoded_.decoder.forget_groups();
  if (!is_scout_ && cancels(scope_.trace, decoded_.reader.rank())) scout();
  event_.rank = decoded_.reader.rank();
  const Pace pace = pace_of(scope_.trace, event_.rank);
  for (const Location& location : scope_.trace.locations(event_.rank)) {
    Result<Cursor> cursor = decoded_.reader.cursor(location.thread);
    if (!cursor.ok()) continue;
    Thread thread;
    thread.number = location.thread;
    thread.calls = std::make_unique<LookAhead>(
        std::make_unique<CallOrder>(scope_.trace, std::move(*cursor), pace, counts_),
        decoded_.decoder, world_.light_room);
    // One call of each thread is kept ready, so that the earliest can be chosen.
    thread.has_call = thread.calls->next(thread.staged);
    threads_.push_back(std::move(thread));
  }
}

RankEvents::~RankEvents() = default;

// Threads are merged by begin. Without times their calls have made-up ones (CallOrder), and each
// thread is in order.
const Event* RankEvents::next() {
  if (!is_open_) open();
  Thread* first = nullptr;
  for (Thread& thread : threads_)
    if (thread.has_call && (first == nullptr || thread.staged.begin_ns < first->staged.begin_ns))
      first = &thread;
  if (first == nullptr) return nullptr;
  if (!is_scout_) scope_.tick();
  const StagedCall& call = first->staged;
  event_.thread = first->number;
  event_.seq = call.seq;
  event_.begin_ns = call.begin_ns;
  event_.end_ns = call.end_ns;
  event_.call = call.op->signature;
  event_.op = first->staged.op;
  event_.in_window = scope_.is_in_window(call.begin_ns, call.end_ns);
  event_.steps.clear();  // keeps its memory: a walk allocates for its largest call only
  event_.collective = {};
  decode(first->staged);
  first->has_call = first->calls->next(first->staged);
  return &event_;
}

// A peer that is a number and no rank of this world.
void RankEvents::note_partner(const Signature& call, std::string_view parameter) {
  const Value* value = call.find(parameter);
  if (value != nullptr && value->at_entry().is_integer()) ++other_world_;
}

// Three ways to a number. Alone, the rank counts. With MessageEnds, a first walk of all ranks
// writes their ends to the disk, where they are sorted and joined; a second walk, which asks in the
// same order, gets each end's answer back.
void RankEvents::number(Step& step, bool sends, Use use) {
  MessageEnds* ends = world_.ends;
  if (ends == nullptr) {
    step.number = numbers_.next(step.channel, sends);
    return;
  }
  if (ends->is_joined()) {
    step.answer = ends->next();
    step.number = step.answer.number;
    return;
  }
  const bool in_window = event_.in_window && use == Use::kNow;
  step.posted = sends ? ends->send(step.channel, in_window,
                                   step.is_sized ? std::optional(step.bytes) : std::nullopt)
                      : ends->receive(step.channel, in_window);
}

Step RankEvents::send_step(const MessageEnd& end, const Signature& call) {
  Step step;
  step.made_by = &call;
  const DecodedRank::Sizes& sizes = decoded_.sizes_of(call);
  step.bytes = sizes.sent.value_or(0);
  step.is_sized = sizes.sent.has_value();
  if (end.peer == kNobody) {
    note_partner(call, "dest");
    return step;
  }
  step.channel = channel_of_send(end, event_.rank);
  step.has_message = true;
  number(step, true, Use::kNow);
  // Counted where a message is sent: its receive would count it twice.
  unsized_ += step.is_sized ? 0 : 1;
  return step;
}

// The bytes are the room that the call gives; how many came only the sender knows. A wildcard whose
// message the trace does not tell has no channel, and is counted.
Step RankEvents::receive_step(MessageEnd end, const Signature& call, Use use) {
  Step step;
  step.made_by = &call;
  const DecodedRank::Sizes& sizes = decoded_.sizes_of(call);
  step.bytes = sizes.room.value_or(0);
  step.is_sized = sizes.room.has_value();
  if (end.peer == kNobody) {
    note_partner(call, "source");
    return step;
  }
  step.is_cancelled = use == Use::kCancelled;
  if (!end.is_known()) {
    // A receive from anybody that will be cancelled takes no message, so none is unknown.
    unknown_ += step.is_cancelled ? 0 : 1;
    return step;
  }
  step.channel = channel_of_receive(end, event_.rank);
  // No number: the next receive of the channel gets the message.
  if (step.is_cancelled) return step;
  step.has_message = true;
  number(step, false, use);
  return step;
}

// Requests are named by the signature that made them. A recorder gives a signature another pool
// position while an earlier request of it is open, so the entry that is replaced here has ended.
RankEvents::Request& RankEvents::make_request(const Op& op, const Signature& call) {
  Request& request = requests_[call.id] = Request();
  request.op = &op;
  request.made_by = &call;
  request.number = next_request_++;
  return request;
}

// All members call the collectives of a communicator in the same order, so equal numbers are one
// collective.
uint64_t RankEvents::next_collective(const Op& op) {
  event_.collective.is_there = true;
  return event_.collective.number = collectives_[op.comm.key]++;
}

// What begins with a request: at once, or at each MPI_Start of a persistent one. A request may send
// and receive (MPI_Isendrecv); its steps share its number.
void RankEvents::post(const StagedCall& staged, Request& request) {
  const Op& op = *request.op;
  request.is_active = true;
  const auto add = [&](Step step, StepKind kind) {
    step.kind = kind;
    step.request = request.number;
    step.op = &op;
    event_.steps.push_back(step);
    return step;
  };
  if (op.sends()) request.send = add(send_step(op.send, *request.made_by), StepKind::kPostSend);
  if (op.receives()) {
    // Counts receives whether cancelled or not, so that the scout and this walk agree.
    request.receive_post = receive_posts_++;
    const Use use = cancelled_.count(request.receive_post) > 0 ? Use::kCancelled : Use::kNow;
    request.receive = add(
        receive_step(posted_receive(op, staged, world_.comms, event_.rank), *request.made_by, use),
        StepKind::kPostReceive);
  }
  if (op.action != Action::kCollective) return;
  Step step;
  step.made_by = request.made_by;
  step.collective = request.collective = next_collective(op);
  add(step, StepKind::kPostCollective);
}

// What the call does for others, as steps in the order in which it does it. Requests of actions
// that move no message here (windows, files) are not kept: complete() finds none of that name.
void RankEvents::decode(const StagedCall& staged) {
  const Op& op = *staged.op;
  const Signature& call = *op.signature;
  const auto add = [&](Step step, StepKind kind) {
    step.kind = kind;
    step.op = &op;
    event_.steps.push_back(step);
  };
  if (op.makes_request && op.action != Action::kMatchedReceive && op.action != Action::kNothing &&
      op.action != Action::kWindowEpoch && op.action != Action::kOtherCollective) {
    Request& request = make_request(op, call);
    if (!op.is_persistent) post(staged, request);
    return;
  }
  switch (op.action) {
    case Action::kSend: return add(send_step(op.send, call), StepKind::kSend);
    case Action::kReceive: return add(receive_step(op.receive, call), StepKind::kReceive);
    case Action::kSendReceive:
      add(send_step(op.send, call), StepKind::kSend);
      return add(receive_step(op.receive, call), StepKind::kReceive);
    // MPI_Mprobe takes the message out of its channel: the number is given here. The receive that
    // follows names the message object, and only then the message counts as received.
    case Action::kMatchedProbe:
      matched_[op.message_object] = receive_step(op.receive, call, Use::kLater);
      return;
    case Action::kMatchedReceive: {
      const auto taken = matched_.find(op.message_object);
      Step step = taken == matched_.end() ? Step() : taken->second;
      if (taken != matched_.end()) matched_.erase(taken);
      if (step.has_message && event_.in_window && world_.ends != nullptr &&
          !world_.ends->is_joined())
        world_.ends->use(step.channel, step.posted);
      const DecodedRank::Sizes& sizes = decoded_.sizes_of(call);
      step.bytes = sizes.room.value_or(0);
      step.is_sized = sizes.room.has_value();
      step.made_by = &call;
      if (!op.makes_request) return add(step, StepKind::kReceive);
      Request& request = make_request(op, call);
      request.is_active = true;
      step.request = request.number;
      request.receive = step;
      return add(step, StepKind::kPostReceive);
    }
    case Action::kStart: return start(staged);
    case Action::kComplete:
    case Action::kFree: return complete(staged);
    case Action::kCancel: return cancel(staged);
    case Action::kCollective: next_collective(op); return;
    default: return;
  }
}

void RankEvents::start(const StagedCall& staged) {
  for (const RequestUse& use : staged.op->requests) {
    const auto known = requests_.find(use.request);
    if (known == requests_.end()) {
      ++unknown_requests_;
      continue;
    }
    known->second.number = next_request_++;  // each start is a request of its own to others
    post(staged, known->second);
  }
}

// What ends with a request.
void RankEvents::finish(Request& request, StepKind receive_kind) {
  const auto add = [&](Step step, StepKind kind) {
    step.kind = kind;
    step.op = request.op;
    step.made_by = request.made_by;
    step.request = request.number;
    event_.steps.push_back(step);
  };
  const bool freed = receive_kind == StepKind::kFreed;
  if (request.send) add(*request.send, freed ? StepKind::kFreed : StepKind::kSendDone);
  if (request.receive) add(*request.receive, receive_kind);
  if (request.op->action == Action::kCollective) {
    Step step;
    step.collective = request.collective;
    add(step, freed ? StepKind::kFreed : StepKind::kCollectiveDone);
  }
  request.is_active = false;
  // A persistent request gets new ones with its next start.
  request.send.reset();
  request.receive.reset();
}

// A persistent request outlives its completion, and may complete while it is not active: then
// nothing has ended.
void RankEvents::complete(const StagedCall& staged) {
  const Op& op = *staged.op;
  const bool frees = op.action == Action::kFree;
  for (const RequestUse& use : op.requests) {
    const auto known = requests_.find(use.request);
    if (known == requests_.end()) continue;  // of a kind that moves no message (MPI_Rput, ...)
    Request& request = known->second;
    const bool cancelled = request.receive && request.receive->kind == StepKind::kCancelled;
    if (request.is_active)
      finish(request, frees       ? StepKind::kFreed
                      : cancelled ? StepKind::kCancelled
                                  : StepKind::kReceiveDone);
    if (!request.op->is_persistent || frees) requests_.erase(known);
  }
  op.unsuccessful.for_each([&](const RequestUse& use) {
    const auto known = requests_.find(use.request);
    if (known == requests_.end() || !known->second.is_active) return;
    Step step;
    step.kind = StepKind::kTested;
    step.request = known->second.number;
    step.made_by = known->second.made_by;
    step.op = known->second.op;
    event_.steps.push_back(step);
  });
}

// Its receive took no message (post). A send that is cancelled may have gone; it counts as sent.
void RankEvents::cancel(const StagedCall& staged) {
  for (const RequestUse& use : staged.op->requests) {
    const auto known = requests_.find(use.request);
    if (known == requests_.end() || !known->second.is_active || !known->second.receive) continue;
    Request& request = known->second;
    request.receive->kind = StepKind::kCancelled;
    request.receive->has_message = false;
    if (is_scout_ && request.op->receives()) cancelled_.insert(request.receive_post);
  }
}

// What a conversion lacks is said, with a count: once for each rank, summed up by the Scope.
void RankEvents::report() {
  scope_.not_held("messages with processes of another world", other_world_);
  scope_.not_held("receives whose message the trace does not tell", unknown_);
  scope_.not_held("messages whose bytes the trace does not tell", unsized_);
  scope_.not_held("starts of requests that the trace does not tell", unknown_requests_);
  if (scope_.trace.has_times()) scope_.not_held("calls whose time was built", counts_.built);
  scope_.not_held("calls whose times were cut to nest or follow", counts_.cut);
}

}  // namespace refrain::events
