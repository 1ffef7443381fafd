// Requests of messages and of collectives: what makes, starts, completes, tests, cancels and frees
// them. What a request stands for begins as if the call that makes or starts it did it by itself,
// and ends in the call that completes it.

#include <algorithm>
#include <utility>

#include "analysis/waits/sweep.h"

namespace refrain::analysis::waits {

void Sweep::post_request(uint32_t location, const Op& op) {
  LocationState& l = locations_[location];
  Request& request = rank_of(l).states.of(op).made;
  request.is_active = true;
  if (op.sends())
    request.send = begin_send(location, op.send, op.is_partitioned ? op.partitions : 0);
  if (op.receives()) {
    const uint64_t unknown = counts_.unknown_messages;
    request.receive = begin_receive(location, posted_receive(op, l.current, comms_, l.rank), true);
    request.is_unknown = counts_.unknown_messages != unknown;
  }
}

void Sweep::begin_start(uint32_t location) {
  LocationState& l = locations_[location];
  RankState& rank = rank_of(l);
  for (RequestUse& use : l.current.op->requests) {
    Request* const request = request_of(rank, use);
    if (request == nullptr) {
      ++counts_.unknown_requests;
      continue;
    }
    if (!request->is_collective) {
      post_request(location, *use.maker);
      continue;
    }
    request->is_active = true;
    request->instance = {use.maker->comm.key, request->persistent_stream, request->starts++};
    enter(location, request->instance, *use.maker);
  }
}

// A partitioned message is there when its last part is.
void Sweep::begin_ready(uint32_t location) {
  LocationState& l = locations_[location];
  RankState& rank = rank_of(l);
  for (RequestUse& use : l.current.op->requests) {
    const Request* const request = request_of(rank, use);
    if (request == nullptr || request->send == kNoMessage) continue;
    Message& message = messages_.at(request->send);
    // The bound is for damaged traces: a sum below 0 would be a message that never leaves.
    const uint64_t parts = std::min(message.parts_left, l.current.op->partitions);
    message.parts_left -= parts;
    if (message.parts_left > 0 || message.is_sent) continue;
    const MessageEnd& end = use.maker->send;
    now_sent(location, message, channel_of_send(end, l.rank));
  }
}

// A receive whose message was not sent when it was cancelled never gets it. One whose message was
// sent by then did not hear of the cancellation.
void Sweep::begin_cancel(uint32_t location) {
  RankState& rank = rank_of(locations_[location]);
  for (RequestUse& use : locations_[location].current.op->requests) {
    Request* const request = request_of(rank, use);
    if (request == nullptr) continue;
    // It takes no message, so there is none of which the trace does not tell.
    if (std::exchange(request->is_unknown, false)) --counts_.unknown_messages;
    if (request->receive == kNoMessage) continue;
    const MessageId id = request->receive;
    // A copy, because forget() gives the slot back.
    const Message message = messages_.at(id);
    if (message.send_node != kNoNode) continue;
    request->receive = kNoMessage;
    messages_.forget({message.comm, message.sender, message.receiver, message.tag}, id);
  }
}

// All requests are asked, also after one that is not ready, so that each of them can wake the
// location. The completed ones only: which they were, MPI_Waitany and the like have told.
bool Sweep::collect_requests(uint32_t location) {
  LocationState& l = locations_[location];
  RankState& rank = rank_of(l);
  Op& op = *l.current.op;
  bool ready = true;
  for (RequestUse& use : op.requests) {
    const Request* const request = request_of(rank, use);
    if (request == nullptr || !request->is_active) continue;
    if (request->is_collective)
      ready = collect_collective(location, request->instance, *use.maker, false) && ready;
    else
      ready = needs_message(location, request->receive) && needs_receive(location, request->send) &&
              ready;
  }
  if (!ready && !l.gave_up) return false;
  for (RequestUse& use : op.requests) {
    const Request* const request = request_of(rank, use);
    if (request == nullptr) {
      // Requests of other kinds (MPI_Rput, MPI_Comm_idup, of files) wait for nobody that is known.
      const Action made_by = use.maker == nullptr ? Action::kNothing : use.maker->action;
      const bool is_ours = made_by == Action::kSend || made_by == Action::kReceive ||
                           made_by == Action::kSendReceive || made_by == Action::kCollective;
      counts_.unknown_requests += is_ours ? 1 : 0;
      continue;
    }
    // Collectives have left their releases when they were asked above.
    if (!request->is_active || request->is_collective) continue;
    collect_send(l, request->send);
    collect_receive(request->receive);
  }
  collect_unsuccessful(l);
  return true;
}

// Whether what a test asks for in vain was not there yet at its end.
void Sweep::collect_unsuccessful(LocationState& l) {
  l.current.op->unsuccessful.for_each([&](RequestUse& use) {
    const Request* const request = request_of(rank_of(l), use);
    if (request == nullptr || !request->is_active) return;
    const Op& op = *use.maker;
    if (request->is_collective) {
      const Instance* instance = instances_.find(request->instance);
      LastEntry needed;
      if (instance == nullptr || find_needed(*instance, op, needed)) return;
      is_unsuccessful_ = true;
      unsuccessful_pattern_ = pattern_of(op.collective);
      return;
    }
    // Of other sends nobody knows whether they wait for their receives.
    if (request->send != kNoMessage) {
      const Message& message = messages_.at(request->send);
      if (message.is_synchronous && message.is_sent && !message.is_posted)
        is_unsuccessful_ = true, unsuccessful_pattern_ = Pattern::kLateReceiver;
    }
    // Of a wildcard the trace tells the message only where a call has completed it. One that is
    // never completed is taken for never sent.
    const bool is_open = request->receive != kNoMessage
                             ? !messages_.at(request->receive).is_sent
                             : op.action == Action::kReceive && op.receive.peer != kNobody &&
                                   !op.receive.is_known();  // and never completed
    if (is_open) is_unsuccessful_ = true, unsuccessful_pattern_ = Pattern::kLateSender;
  });
}

void Sweep::finish_request(LocationState& l, RequestUse& use) {
  Request* const request = request_of(rank_of(l), use);
  if (request == nullptr) return;
  const bool freed = l.current.op->action == Action::kFree;
  if (request->is_active) {
    // What is freed while it is under way ends unseen; its message may still be received.
    if (request->is_collective) leave(l, request->instance, *use.maker, false);
    if (freed && request->receive != kNoMessage) {
      messages_.at(request->receive).is_received = true;
      if (options_.observer != nullptr) messages_.use(request->receive);  // told at the end
    }
    if (request->send != kNoMessage && !freed) messages_.at(request->send).send_ended_ns = l.end;
    for (MessageId* id : {&request->send, &request->receive}) {
      if (*id != kNoMessage) messages_.drop(*id);
      *id = kNoMessage;
    }
    request->is_active = false;
  }
  // A persistent request stays, inactive, until it is freed.
  if (!use.maker->is_persistent || freed) request->exists = false;
}

}  // namespace refrain::analysis::waits
