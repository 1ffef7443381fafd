// Messages: both ends, requests, probes.
//
// A Message is made by the end that the sweep reaches first, and the other end finds it by its
// place in the channel. Who still needs it holds a use of it (MessageTable): the two calls or
// requests, and the receiver's list of incoming messages. Times are in ns of the common clock,
// repaired.

#include <algorithm>

#include "analysis/waits/sweep.h"

namespace refrain::analysis::waits {

// A send: its message is on its way from the begin of the call, as nobody can tell when the library
// really sent it. With `parts` (a partitioned send) it is on its way when the last part is ready.
// The receiver's list has messages in the order in which they were sent, for mark_received().
MessageId Sweep::begin_send(uint32_t location, const MessageEnd& end, uint64_t parts) {
  LocationState& l = locations_[location];
  if (end.peer == kNobody) return kNoMessage;
  // A spawned process, or a rank without a record: its end of the message never comes.
  if (!is_here(end.peer)) {
    ++counts_.other_world;
    return kNoMessage;
  }
  const ChannelKey key = channel_of_send(end, l.rank);
  const MessageId id = messages_.sent(key);
  if (id == kNoMessage) return id;
  ++counts_.messages;
  Message& message = messages_.at(id);
  message.sender = l.rank;
  message.receiver = end.peer;
  message.send_node = l.node;
  message.parts_left = parts;
  message.is_synchronous = end.is_synchronous;
  message.is_buffered = end.is_buffered;
  // Partitioned ones are not standard: when their data leaves depends on the parts.
  message.is_standard = !end.is_synchronous && !end.is_buffered && parts == 0;
  message.bytes = end.bytes;
  message.comm = end.comm;
  message.tag = end.tag;
  if (parts == 0) now_sent(location, message, key);
  messages_.use(id);  // of the receiver's list
  RankState& receiver = ranks_[static_cast<size_t>(end.peer)];
  message.is_listed = true;
  message.previous_incoming = receiver.last_incoming;
  (receiver.first_incoming == kNoMessage ? receiver.first_incoming
                                         : messages_.at(receiver.last_incoming).next_incoming) = id;
  receiver.last_incoming = id;
  return id;
}

// Wakes the receive, or the probe of the channel, that was held until the message is sent.
void Sweep::now_sent(uint32_t location, Message& message, const ChannelKey& key) {
  LocationState& l = locations_[location];
  message.is_sent = true;
  message.sent_ns = l.begin;
  message.send_node = l.node;
  message.ideal_sent = l.ideal;
  if (message.held != kNoLocation) {
    const uint32_t held = message.held;
    message.held = kNoLocation;
    wake(held);
  }
  const uint32_t prober = messages_.take_held(key);
  if (prober != kNoLocation) wake(prober);
}

// Takes the next message of the channel, which need not have been sent yet. A wildcard has its
// source and tag here already: the trace tells what it took. `posts`: false for a matched probe,
// which takes a message and gives it no buffer.
MessageId Sweep::begin_receive(uint32_t location, const MessageEnd& end, bool posts) {
  LocationState& l = locations_[location];
  if (end.peer == kNobody) return kNoMessage;
  if (!end.is_known()) {
    ++counts_.unknown_messages;
    return kNoMessage;
  }
  if (!is_here(end.peer)) {
    ++counts_.other_world;
    return kNoMessage;
  }
  const MessageId id = messages_.taken(channel_of_receive(end, l.rank));
  if (id == kNoMessage) return id;
  messages_.at(id).comm = end.comm;
  messages_.at(id).tag = end.tag;
  messages_.at(id).sender = end.peer;
  messages_.at(id).receiver = l.rank;
  if (posts) now_posted(location, messages_.at(id));
  return id;
}

// The receive has a buffer. A standard send that had ended before was eager: the library kept its
// data, which says that messages of this size do not wait for their receives (note_eager).
void Sweep::now_posted(uint32_t location, Message& message) {
  LocationState& l = locations_[location];
  RankState& rank = rank_of(l);
  message.is_posted = true;
  message.posted_ns = l.begin;
  message.receive_node = l.node;
  message.ideal_posted = l.ideal;
  // A synchronous send waits at its end for this.
  if (message.held_sender != kNoLocation) {
    const uint32_t held = message.held_sender;
    message.held_sender = kNoLocation;
    wake(held);
  }
  if (!message.is_sent) return;
  // The receiver has waited for a message that was sent after this one: had it received this one
  // first, its sender had not been blocked (docs/waits.md, wrong order).
  message.is_late_out_of_order = rank.newest_waited > message.sent_ns;
  if (message.is_standard && message.send_ended_ns < l.begin) note_eager(message);
}

// What a call that names its message itself does at its begin, so that whoever ends later finds it.
void Sweep::begin_message(uint32_t location) {
  LocationState& l = locations_[location];
  const Op& op = *l.current.op;
  RankState& rank = rank_of(l);
  if (op.makes_request && op.action != Action::kMatchedReceive) {
    Request& made = rank.states.of(op).made;
    made = Request();
    made.exists = true;
    // A persistent request is no message until it is started.
    if (!op.is_persistent) post_request(location, op);
    return;
  }
  switch (op.action) {
    case Action::kSendReceive:
      l.send = begin_send(location, op.send, 0);
      l.receive = begin_receive(location, op.receive, true);
      break;
    case Action::kSend: l.send = begin_send(location, op.send, 0); break;
    case Action::kReceive: l.receive = begin_receive(location, op.receive, true); break;
    case Action::kMatchedProbe: {
      const MessageId taken = begin_receive(location, op.receive, false);
      if (taken == kNoMessage) break;
      // MPI_Mrecv names it by its handle; the message has left the channel, so nothing else can
      // take it in between.
      rank.matched[op.message_object] = taken;
      break;
    }
    case Action::kMatchedReceive: {
      const auto taken = rank.matched.find(op.message_object);
      if (taken == rank.matched.end()) break;
      now_posted(location, messages_.at(taken->second));
      if (op.makes_request) {
        Request& made = rank.states.of(op).made;
        made = Request();
        made.exists = made.is_active = true;
        made.receive = taken->second;
      } else {
        l.receive = taken->second;
      }
      rank.matched.erase(taken);
      break;
    }
    default: break;
  }
}

// --- ends ---
//
// These are called at the end of a call and again each time that its location is woken, until all
// that it needs is there. Those that return whether it is there change nothing but who is to be
// woken; only then is anything collected.

// False: it was not sent yet, and the location is to be woken when it is.
bool Sweep::needs_message(uint32_t location, MessageId id) {
  if (id == kNoMessage) return true;
  Message& message = messages_.at(id);
  if (message.is_sent) return true;
  message.held = location;
  return false;
}

// The same for a synchronous send, which its receive keeps until that is posted.
bool Sweep::needs_receive(uint32_t location, MessageId id) {
  if (id == kNoMessage) return true;
  Message& message = messages_.at(id);
  if (!message.is_synchronous || !message.is_sent || message.is_posted) return true;
  message.held_sender = location;
  return false;
}

bool Sweep::collect_messages(uint32_t location) {
  LocationState& l = locations_[location];
  const Op& op = *l.current.op;
  if (op.makes_request) return true;
  if (op.action == Action::kProbe) {
    if (!op.receive.is_known() || op.receive.peer == kNobody || !is_here(op.receive.peer))
      return true;
    // A probe takes nothing: it looks at the channel, and is woken by the channel, not by a
    // message.
    const ChannelKey key = channel_of_receive(op.receive, l.rank);
    const MessageId next = messages_.peek(key);
    const bool is_there = next != kNoMessage && messages_.at(next).is_sent;
    if (!is_there && !l.gave_up) messages_.hold(key, location);
    if (is_there) collect_receive(next);
    return is_there;
  }
  MessageId receive = l.receive;
  if (op.action == Action::kMatchedProbe) {
    const auto taken = rank_of(l).matched.find(op.message_object);
    receive = taken == rank_of(l).matched.end() ? kNoMessage : taken->second;
  }
  const bool is_there = needs_message(location, receive);
  if (!(needs_receive(location, l.send) && is_there) && !l.gave_up) return false;
  collect_send(l, l.send);
  collect_receive(receive);
  return true;
}

// The call could not end before the message was sent: that is one of the releases, of which emit()
// takes the latest.
void Sweep::collect_receive(MessageId id) {
  if (id == kNoMessage) return;
  received_.push_back(id);
  const Message& message = messages_.at(id);
  if (!message.is_sent) return;
  releases_.push_back({message.sent_ns, Pattern::kLateSender, message.send_node, message.sender,
                       message.ideal_sent});
}

// A send that did not return before its receive was there.
void Sweep::collect_send(LocationState& l, MessageId id) {
  if (id == kNoMessage) return;
  const Message& message = messages_.at(id);
  // The conditions, in turn: both ends are there; the receive came while the send was inside of its
  // call, or tested in vain, or kept it in any case; it came after the message was ready; and the
  // library had no buffer for it from the program.
  const bool is_late = message.is_sent && message.is_posted && message.posted_ns > ready_since(l) &&
                       (message.posted_ns <= l.end || message.is_synchronous) &&
                       message.posted_ns > message.sent_ns && !message.is_buffered;
  if (!is_late || was_eager(message)) return;
  sent_.push_back(id);
  releases_.push_back(
      {message.posted_ns,
       message.is_late_out_of_order ? Pattern::kLateReceiverWrongOrder : Pattern::kLateReceiver,
       message.receive_node, message.receiver, message.ideal_posted, !message.is_synchronous,
       message.bytes <= kKeptBytes});
}

// Tells which late senders were late because a message that was sent before theirs is left lying,
// which the call could have asked for: one that waits for a certain message. A probe receives
// nothing, but waits all the same.
void Sweep::mark_received(LocationState& l) {
  RankState& rank = rank_of(l);
  const Action action = l.current.op->action;
  if (action != Action::kProbe && action != Action::kMatchedProbe)
    for (const MessageId id : received_) {
      messages_.at(id).is_received = true;
      // Also behind one that is never received: what is kept must not grow with the run.
      take_off_list(rank, id);
    }
  // The list is in the order of sends; what has been received at its front is given back, so that
  // the front is the oldest message left lying.
  while (rank.first_incoming != kNoMessage && messages_.at(rank.first_incoming).is_received)
    take_off_list(rank, rank.first_incoming);
  // MPI_Waitall and the like take whatever comes: no other order would have helped.
  if (!l.current.op->has_order) return;
  for (Release& release : releases_) {
    if (release.pattern != Pattern::kLateSender) continue;
    rank.newest_waited = std::max(rank.newest_waited, release.time);
    if (rank.first_incoming == kNoMessage) continue;
    const Message& oldest = messages_.at(rank.first_incoming);
    if (oldest.is_sent && oldest.sent_ns < release.time)
      release.pattern = Pattern::kLateSenderWrongOrder;
  }
}

void Sweep::take_off_list(RankState& receiver, MessageId id) {
  Message& message = messages_.at(id);
  if (!message.is_listed) return;
  message.is_listed = false;
  const MessageId before = message.previous_incoming, behind = message.next_incoming;
  (before == kNoMessage ? receiver.first_incoming : messages_.at(before).next_incoming) = behind;
  (behind == kNoMessage ? receiver.last_incoming : messages_.at(behind).previous_incoming) = before;
  messages_.drop(id);
}

void Sweep::drop_messages(LocationState& l) {
  // For note_eager(): a later receive compares.
  if (l.send != kNoMessage) messages_.at(l.send).send_ended_ns = l.end;
  for (MessageId* id : {&l.send, &l.receive}) {
    if (*id != kNoMessage) messages_.drop(*id);
    *id = kNoMessage;
  }
}

}  // namespace refrain::analysis::waits
