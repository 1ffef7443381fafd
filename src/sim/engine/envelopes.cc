// Messages that are matched by their envelopes: MPI 4.1, section 3.5. A receive takes the first
// message to come that it accepts, and a message the first receive posted that accepts it. Messages
// of one sender come in the order in which they were sent, whatever their protocol.
#include <algorithm>

#include "sim/engine/engine.h"

namespace refrain::sim {

bool Engine::accepts(const Envelope& receive, const Envelope& message) {
  return (receive.from == kAnySender || receive.from == message.from) &&
         (receive.takes_any_tag || receive.tag == message.tag);
}

uint32_t Engine::send_envelope(uint32_t rank, const Action& action) {
  const uint32_t id = new_message();
  messages_[id].is_unmatched = true;
  if (envelopes_.size() < messages_.size()) envelopes_.resize(messages_.size());
  if (envelope_queues_.size() <= action.first) envelope_queues_.resize(action.first + 1);
  const uint64_t number = envelope_queues_[action.first].senders[rank].sent++;
  envelopes_[id] = {action.first, action.channel, rank, false, static_cast<int64_t>(action.tag),
                    number};
  return id;
}

// A message that has come, or one for which this receive waits.
uint32_t Engine::match_envelope(Agent& agent, const Action& action) {
  if (envelope_queues_.size() <= action.first) envelope_queues_.resize(action.first + 1);
  const Envelope receive = {action.first,
                            action.channel,
                            action.peer,
                            action.takes_any_tag,
                            static_cast<int64_t>(action.tag),
                            0};
  EnvelopeQueue& queue = envelope_queues_[action.first];
  for (auto at = queue.unexpected.begin(); at != queue.unexpected.end(); ++at) {
    const uint32_t id = *at;
    if (!accepts(receive, envelopes_[id])) continue;
    queue.unexpected.erase(at);
    messages_[id].is_unmatched = false;
    if (receive.channel != kNoChannel && receive.channel != envelopes_[id].channel)
      ++result_.changed;
    return id;
  }
  const uint32_t id = new_message();
  if (envelopes_.size() < messages_.size()) envelopes_.resize(messages_.size());
  envelopes_[id] = receive;
  messages_[id].to = agent.rank;
  queue.posted.push_back(id);
  return id;
}

// The first byte of an eager message, or the request of one that waits, is with the receiver; it
// may be behind others of its sender.
void Engine::envelope_comes(uint32_t id) {
  const Envelope envelope = envelopes_[id];
  EnvelopeQueue::Sender& sender = envelope_queues_[envelope.queue].senders[envelope.from];
  if (envelope.number != sender.come) return sender.early.push_back(id);
  admit(id);
  ++sender.come;
  const auto is_next = [&](uint32_t one) { return envelopes_[one].number == sender.come; };
  for (auto next = std::find_if(sender.early.begin(), sender.early.end(), is_next);
       next != sender.early.end();
       next = std::find_if(sender.early.begin(), sender.early.end(), is_next)) {
    const uint32_t other = *next;
    sender.early.erase(next);
    admit(other);
    ++sender.come;
  }
}

void Engine::admit(uint32_t id) {
  const Envelope& envelope = envelopes_[id];
  EnvelopeQueue& queue = envelope_queues_[envelope.queue];
  const auto found = std::find_if(queue.posted.begin(), queue.posted.end(),
                                  [&](uint32_t one) { return accepts(envelopes_[one], envelope); });
  if (found == queue.posted.end()) return queue.unexpected.push_back(id);
  const uint32_t waiting = *found;
  queue.posted.erase(found);
  const uint32_t wanted = envelopes_[waiting].channel;
  if (wanted != kNoChannel && wanted != envelope.channel) ++result_.changed;
  Message& message = messages_[id];
  const Message& receive = messages_[waiting];
  message.is_unmatched = false;
  message.posted = receive.posted;
  message.receive_request = receive.receive_request;
  free_message(waiting);
  if (message.available != kNever)
    finish_message(id, std::max(message.available, now_));  // it may have come before another one
  else
    request_is_there(id, std::max(now_, message.posted));
}

}  // namespace refrain::sim
