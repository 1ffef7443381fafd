// Polls: tests and probes that find nothing, until a call finds what they asked for.

#include <algorithm>

#include "analysis/waits/sweep.h"

namespace refrain::analysis::waits {
namespace {

// Of the messages that nobody has received yet, so many are looked at for a probe: a list that is
// longer must not cost more at each of a million probes.
constexpr int kMostLookedAt = 64;

bool is_wanted(const Message& message, const MessageEnd& wanted) {
  return (wanted.comm == kNoComm || message.comm == wanted.comm) &&
         (wanted.peer == events::kAny || message.sender == wanted.peer) &&
         (wanted.tag == events::kAny || message.tag == wanted.tag);
}

// What either of them asks for, and perhaps more.
void widen(MessageEnd& wanted, const MessageEnd& also) {
  if (wanted.comm != also.comm) wanted.comm = kNoComm;
  if (wanted.peer != also.peer) wanted.peer = events::kAny;
  if (wanted.tag != also.tag) wanted.tag = events::kAny;
}

}  // namespace

// Whether the call found what was asked for in vain before.
bool Sweep::ends_poll(const LocationState& l) {
  const Op& op = *l.current.op;
  const OpStates& states = ranks_[static_cast<size_t>(l.rank)].states;
  // A test that finds nothing goes on with the poll, and one that finds it is no poll any more.
  if (!l.poll.is_open || op.is_poll) return false;
  if (op.action != Action::kComplete)
    return l.poll.is_probe && std::any_of(received_.begin(), received_.end(), [&](MessageId id) {
             return is_wanted(messages_.at(id), l.poll.wanted);
           });
  return std::any_of(op.requests.begin(), op.requests.end(), [&](const RequestUse& use) {
    const OpState* const state = use.maker == nullptr ? nullptr : states.find(*use.maker);
    return state != nullptr && state->made.exists && state->made.poll == l.poll.serial;
  });
}

// Since when the rank has asked for what the call got.
uint64_t Sweep::ready_since(const LocationState& l) {
  return ends_poll(l) ? std::min(l.poll.begin, l.begin) : l.begin;
}

// A probe in vain waited if no message that it would have found was sent by its end.
void Sweep::collect_probe_in_vain(LocationState& l) {
  const MessageEnd& wanted = l.current.op->receive;
  if (wanted.peer == events::kNobody || (wanted.peer != events::kAny && !is_here(wanted.peer)))
    return;
  int looked_at = 0;
  for (MessageId id = rank_of(l).first_incoming; id != kNoMessage;) {
    const Message& message = messages_.at(id);
    if (++looked_at > kMostLookedAt) return;
    if (message.is_sent && !message.is_taken && is_wanted(message, wanted)) return;
    id = message.next_incoming;
  }
  is_unsuccessful_ = true;
  unsuccessful_pattern_ = Pattern::kLateSender;
}

// A test in vain: all of it was spent waiting, if what it asked for was not there at its end. What
// it waited for is known when it is found.
void Sweep::note_poll(LocationState& l) {
  Poll& poll = l.poll;
  const Op& op = *l.current.op;
  const bool is_probe = op.action == Action::kNothing;
  if (!is_probe && op.unsuccessful.empty()) return;  // it asked for nothing
  // The number tells requests of this poll from those of an earlier one, which may still be open.
  if (!poll.is_open) {
    poll.is_open = true;
    poll.is_probe = false;
    ++poll.serial;
    poll.node = l.node;
    poll.begin = l.begin;
    poll.ns = 0;
  }
  if (is_probe) {
    if (poll.is_probe)
      widen(poll.wanted, op.receive);
    else
      poll.wanted = op.receive;
    poll.is_probe = true;
  }
  op.unsuccessful.for_each([&](RequestUse& use) {
    if (Request* const request = request_of(rank_of(l), use)) request->poll = poll.serial;
  });
  if (!is_unsuccessful_ || l.end <= l.begin) return;
  const uint64_t ns = options_.window.part(l.begin, l.end);
  poll.ns += ns;
  counts_.unassigned_ns += ns;
  add_waiting(l, ns);
  add_severity(l, unsuccessful_pattern_, l.begin, l.end);
  tell_wait(l, l.begin, l.end);
}

}  // namespace refrain::analysis::waits
