#include "convert/rank_events.h"

#include <algorithm>
#include <utility>

#include "analysis/payload.h"
#include "mpi/call_table.h"

namespace refrain::convert {

using analysis::argument;

using waits::Action;

namespace {

RankReader reader_of(const Job& job, Rank rank) {
  return {job.trace, rank, job.trace.has_times() ? Times::kRead : Times::kSkip};
}

std::optional<uint64_t> bytes_of(const Trace& trace, const Value& counts, const Value& type) {
  const uint64_t count = analysis::sum_of_counts(counts);
  if (count == 0) return 0;
  const auto size = analysis::element_bytes(trace, type);
  return size ? std::optional(analysis::multiply(*size, count)) : std::nullopt;
}

std::optional<uint64_t> times_parts(std::optional<uint64_t> bytes, const Signature& call) {
  const Value* parts = call.find("partitions");
  if (!bytes || parts == nullptr) return bytes;
  return analysis::multiply(*bytes, analysis::sum_of_counts(parts->at_entry()));
}

}  // namespace

std::optional<uint64_t> sent_bytes(const Trace& trace, const Signature& call) {
  const bool has_two = call.find("sendcount") != nullptr;
  return times_parts(bytes_of(trace, argument(call, has_two ? "sendcount" : "count"),
                              argument(call, has_two ? "sendtype" : "datatype")),
                     call);
}

std::optional<uint64_t> receive_room(const Trace& trace, const Signature& call) {
  const bool has_two = call.find("recvcount") != nullptr;
  return times_parts(bytes_of(trace, argument(call, has_two ? "recvcount" : "count"),
                              argument(call, has_two ? "recvtype" : "datatype")),
                     call);
}

RankEvents::RankEvents(Job& job, World& world, Rank rank)
    : job_(job), world_(world), reader_(reader_of(job, rank)), decoder_(world.decoder(reader_)) {}

void RankEvents::open() {
  is_open_ = true;
  event_.rank = reader_.rank();
  const Pace pace = pace_of(job_.trace, event_.rank);
  for (const Location& location : job_.trace.locations(event_.rank)) {
    Result<Cursor> cursor = reader_.cursor(location.thread);
    if (!cursor.ok()) continue;
    Thread thread;
    thread.number = location.thread;
    thread.calls = std::make_unique<waits::LookAhead>(
        std::make_unique<CallOrder>(job_.trace, std::move(*cursor), pace, counts_), decoder_);
    thread.has_call = thread.calls->next(thread.staged);
    threads_.push_back(std::move(thread));
  }
}

RankEvents::~RankEvents() = default;

const Event* RankEvents::next() {
  if (!is_open_) open();
  Thread* first = nullptr;
  for (Thread& thread : threads_)
    if (thread.has_call && (first == nullptr || thread.staged.begin_ns < first->staged.begin_ns))
      first = &thread;
  if (first == nullptr) return nullptr;
  job_.tick();
  const waits::StagedCall& call = first->staged;
  event_.thread = first->number;
  event_.seq = call.seq;
  event_.begin_ns = call.begin_ns;
  event_.end_ns = call.end_ns;
  event_.call = call.op->signature;
  event_.op = first->staged.op;
  event_.in_window = job_.is_in_window(call.begin_ns, call.end_ns);
  event_.steps.clear();
  event_.collective = {};
  decode(first->staged);
  first->has_call = first->calls->next(first->staged);
  return &event_;
}

const RankEvents::Sizes& RankEvents::sizes_of(const Signature& call) {
  const auto [known, is_new] = sizes_.try_emplace(call.id);
  if (is_new) known->second = {sent_bytes(job_.trace, call), receive_room(job_.trace, call)};
  return known->second;
}

// A peer that is a number and no rank of this world.
void RankEvents::note_partner(const Signature& call, std::string_view parameter) {
  const Value* value = call.find(parameter);
  if (value != nullptr && value->at_entry().is_integer()) ++other_world_;
}

void RankEvents::number(Step& step, bool sends, Use use) {
  MessageEnds* ends = world_.ends;
  if (ends == nullptr) {
    Channel& channel = channels_[step.channel];
    step.number = sends ? channel.sent++ : channel.received++;
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

Step RankEvents::send_step(const waits::MessageEnd& end, const Signature& call) {
  Step step;
  step.made_by = &call;
  const Sizes& sizes = sizes_of(call);
  step.bytes = sizes.sent.value_or(0);
  step.is_sized = sizes.sent.has_value();
  if (end.peer == waits::kNobody) {
    note_partner(call, "dest");
    return step;
  }
  step.channel = {end.comm, event_.rank, end.peer, end.tag};
  step.has_message = true;
  number(step, true, Use::kNow);
  unsized_ += step.is_sized ? 0 : 1;
  return step;
}

Step RankEvents::receive_step(waits::MessageEnd end, const Signature& call, Use use) {
  Step step;
  step.made_by = &call;
  const Sizes& sizes = sizes_of(call);
  step.bytes = sizes.room.value_or(0);
  step.is_sized = sizes.room.has_value();
  if (end.peer == waits::kNobody) {
    note_partner(call, "source");
    return step;
  }
  if (!end.is_known()) {
    ++unknown_;
    return step;
  }
  step.channel = {end.comm, end.peer, event_.rank, end.tag};
  step.has_message = true;
  number(step, false, use);
  return step;
}

waits::MessageEnd RankEvents::resolved(const waits::StagedCall& staged, SignatureId request,
                                       const waits::Op& op) {
  waits::MessageEnd end = op.receive;
  if (end.peer == waits::kNobody || end.is_known()) return end;
  for (const waits::RequestUse& use : staged.taken) {
    if (use.request != request) continue;
    const Value& comm = argument(reader_.signature(request), "comm");
    const Rank peer = world_.comms.view(comm.definition(), event_.rank).comm.peer(use.source);
    end.peer = peer < 0 ? waits::kNobody : peer;
    end.tag = use.tag;
  }
  return end;
}

RankEvents::Request& RankEvents::make_request(const waits::Op& op, const Signature& call) {
  Request& request = requests_[call.id] = Request();
  request.op = &op;
  request.made_by = &call;
  request.number = next_request_++;
  return request;
}

uint64_t RankEvents::next_collective(const waits::Op& op) {
  event_.collective.is_there = true;
  return event_.collective.number = collectives_[op.comm.key]++;
}

void RankEvents::post(const waits::StagedCall& staged, SignatureId id, Request& request) {
  const waits::Op& op = *request.op;
  request.is_active = true;
  const auto add = [&](Step step, StepKind kind) {
    step.kind = kind;
    step.request = request.number;
    step.op = &op;
    event_.steps.push_back(step);
    return step;
  };
  if (op.action == Action::kSend || op.action == Action::kSendReceive)
    request.send = add(send_step(op.send, *request.made_by), StepKind::kPostSend);
  if (op.action == Action::kReceive || op.action == Action::kSendReceive)
    request.receive =
        add(receive_step(resolved(staged, id, op), *request.made_by), StepKind::kPostReceive);
  if (op.action != Action::kCollective) return;
  Step step;
  step.made_by = request.made_by;
  step.collective = request.collective = next_collective(op);
  add(step, StepKind::kPostCollective);
}

void RankEvents::decode(const waits::StagedCall& staged) {
  const waits::Op& op = *staged.op;
  const Signature& call = *op.signature;
  const auto add = [&](Step step, StepKind kind) {
    step.kind = kind;
    step.op = &op;
    event_.steps.push_back(step);
  };
  if (op.makes_request && op.action != Action::kMatchedReceive && op.action != Action::kNothing &&
      op.action != Action::kWindowEpoch && op.action != Action::kOtherCollective) {
    Request& request = make_request(op, call);
    if (!op.is_persistent) post(staged, call.id, request);
    return;
  }
  switch (op.action) {
    case Action::kSend: return add(send_step(op.send, call), StepKind::kSend);
    case Action::kReceive: return add(receive_step(op.receive, call), StepKind::kReceive);
    case Action::kSendReceive:
      add(send_step(op.send, call), StepKind::kSend);
      return add(receive_step(op.receive, call), StepKind::kReceive);
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
      const Sizes& sizes = sizes_of(call);
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

void RankEvents::start(const waits::StagedCall& staged) {
  for (const waits::RequestUse& use : staged.op->requests) {
    const auto known = requests_.find(use.request);
    if (known == requests_.end()) {
      ++unknown_requests_;
      continue;
    }
    known->second.number = next_request_++;  // each start is a request of its own to others
    post(staged, use.request, known->second);
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
  request.send.reset();
  request.receive.reset();
}

void RankEvents::complete(const waits::StagedCall& staged) {
  const waits::Op& op = *staged.op;
  const bool frees = op.action == Action::kFree;
  for (const waits::RequestUse& use : op.requests) {
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
  for (const waits::RequestUse& use : op.in_vain) {
    const auto known = requests_.find(use.request);
    if (known == requests_.end() || !known->second.is_active) continue;
    Step step;
    step.kind = StepKind::kTested;
    step.request = known->second.number;
    step.made_by = known->second.made_by;
    step.op = known->second.op;
    event_.steps.push_back(step);
  }
}

// A receive that is cancelled takes no message: the next one of its channel gets the number. A send
// that is cancelled may have gone; it counts as sent.
void RankEvents::cancel(const waits::StagedCall& staged) {
  for (const waits::RequestUse& use : staged.op->requests) {
    const auto known = requests_.find(use.request);
    if (known == requests_.end() || !known->second.is_active || !known->second.receive) continue;
    Step& receive = *known->second.receive;
    receive.kind = StepKind::kCancelled;
    if (!receive.has_message) continue;
    if (world_.ends != nullptr && !world_.ends->is_joined())
      world_.ends->cancel(receive.channel, receive.posted);
    const auto channel = channels_.find(receive.channel);
    if (channel != channels_.end() && channel->second.received == receive.number + 1)
      --channel->second.received;
    receive.has_message = false;
  }
}

void RankEvents::report() {
  job_.not_held("messages with processes of another world", other_world_);
  job_.not_held("receives whose message the trace does not tell", unknown_);
  job_.not_held("messages whose bytes the trace does not tell", unsized_);
  job_.not_held("starts of requests that the trace does not tell", unknown_requests_);
  if (job_.trace.has_times()) job_.not_held("calls whose time was built", counts_.built);
  job_.not_held("calls whose times were cut to nest or follow", counts_.cut);
}

}  // namespace refrain::convert
