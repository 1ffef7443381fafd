// Messages: protocols, network interfaces, links. docs/simulate.md has the rules with formulas.
#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/engine/engine.h"

namespace refrain::sim {

uint32_t Engine::new_message() {
  result_.most_messages = std::max(result_.most_messages, ++open_messages_);
  result_.is_full = result_.is_full || open_messages_ > options_.most_messages;
  if (free_messages_ == kNone) {
    messages_.emplace_back();
    return static_cast<uint32_t>(messages_.size() - 1);
  }
  const uint32_t id = free_messages_;
  free_messages_ = messages_[id].next;
  messages_[id] = Message();
  return id;
}

void Engine::free_message(uint32_t id) {
  --open_messages_;
  messages_[id].next = free_messages_;
  free_messages_ = id;
}

// The first open end of the other side on the channel, or a new message at the channel's end.
uint32_t Engine::match(uint32_t channel, bool sends) {
  if (channel >= channels_.size())
    channels_.resize(std::max<size_t>(channel + 1, 2 * channels_.size()));
  Channel& queue = channels_[channel];
  if (queue.first != kNone && queue.are_sends != sends) {
    const uint32_t id = queue.first;
    queue.first = messages_[id].next;
    messages_[id].next = kNone;
    return id;
  }
  const uint32_t id = new_message();
  if (queue.first == kNone)
    queue.first = id;
  else
    messages_[queue.last].next = id;
  queue.last = id;
  queue.are_sends = sends;
  return id;
}

// What the links of a route add that is longer than those of neighbours.
Time Engine::hops(uint32_t from, uint32_t to) const {
  const double each = costs_.machine().topology.hop_latency.value;
  if (each == 0) return 0;
  const uint32_t hops = routes_->hops(costs_.node(from), costs_.node(to));
  const uint32_t least = routes_->least_hops();
  return hops > least ? rounded(each * (hops - least)) : 0;
}

Time Engine::latency(uint32_t from, uint32_t to, const MessageCosts& costs) const {
  return costs.latency + hops(from, to);
}

// Of a request or an answer of a rendezvous, or of an acknowledgement. A handshake that takes no
// time has no route.
Time Engine::notice(uint32_t from, uint32_t to, const MessageCosts& costs) const {
  return costs.notice == 0 ? 0 : costs.notice + hops(from, to);
}

// Whether one of its receiver's own was on its way since this one was sent.
Time Engine::crossing(const Message& message, const MessageCosts& costs) const {
  if (costs.crossing == 0 || message.sent == kNever || message.from == message.to) return 0;
  const RankState& to = ranks_[message.to];
  return to.sending > 0 || to.sending_until > message.sent ? costs.crossing : 0;
}

void Engine::send(Agent& agent, const Action& action) {
  const uint32_t id =
      action.is_matched_here ? send_envelope(agent.rank, action) : match(action.channel, true);
  Message& message = messages_[id];
  message.from = agent.rank;
  message.to = action.peer;
  message.bytes = action.amount;
  message.there = agent.there;
  ++result_.messages;
  const MessageCosts costs = kept_costs_.of(agent.rank, action.peer, action.amount);
  message.is_eager = costs.is_eager && !action.is_synchronous;
  message.sent = agent.now + costs.send;
  const uint32_t place = add_part(agent.rank, action.request);
  if (message.is_eager) {
    if (costs.is_acknowledged && action.peer != agent.rank)
      message.send_request = place;
    else
      complete(agent.rank, place, {message.sent, kNever, 0});
    begin_transfer(id, message.sent, action.amount);
  } else {
    message.send_request = place;
    heap_.add(agent.now + costs.post + notice(agent.rank, action.peer, costs), kRequested, id);
  }
  spend(agent, costs.send);
}

void Engine::receive(Agent& agent, const Action& action) {
  const uint32_t id =
      action.is_matched_here ? match_envelope(agent, action) : match(action.channel, false);
  Message& message = messages_[id];
  message.to = agent.rank;
  message.posted = agent.now;
  message.receive_request = add_part(agent.rank, action.request);
  if (message.available != kNever)
    finish_message(id, message.available);
  else if (message.asked != kNever)
    answer(id, std::max(agent.now, message.asked), false);
}

void Engine::request_comes(uint32_t id) {
  Message& message = messages_[id];
  message.asked = now_;
  if (message.is_unmatched) return envelope_comes(id);
  if (message.posted != kNever) request_is_there(id, std::max(now_, message.posted));
}

// The receive is posted, too.
void Engine::request_is_there(uint32_t id, Time at) {
  Message& message = messages_[id];
  if (is_inside(message.to, at)) return answer(id, at, false);
  if (costs_.protocol(message.from, message.to).overlap.value > 0) return answer(id, at, true);
  ranks_[message.to].held.push_back({Pending::kAnswer, id});
}

void Engine::answer(uint32_t id, Time at, bool is_outside) {
  Message& message = messages_[id];
  message.answered = at;
  message.is_shared = is_outside && costs_.protocol(message.from, message.to).overlap.value < 1;
  const MessageCosts costs = kept_costs_.of(message.from, message.to, message.bytes);
  heap_.add(at + notice(message.to, message.from, costs), kAnswered, id);
}

uint64_t Engine::first_share(const Message& message) const {
  if (!message.is_shared) return message.bytes;
  const double overlap = costs_.protocol(message.from, message.to).overlap.value;
  return static_cast<uint64_t>(std::llround(overlap * static_cast<double>(message.bytes)));
}

void Engine::begin_data(uint32_t id) {
  const Message& message = messages_[id];
  begin_transfer(id, std::max(now_, message.sent), first_share(message));
}

// The sender's interface takes it at `at` or when it is free; a copy needs none.
void Engine::begin_transfer(uint32_t id, Time at, uint64_t bytes) {
  const Message& message = messages_[id];
  if (costs_.is_copy(message.from, message.to)) {
    heap_.add(at, kArrival, id);
    if (!message.is_eager) left(id, at);
    return;
  }
  RankState& from = ranks_[message.from];
  const MessageCosts costs = kept_costs_.of(message.from, message.to, message.bytes);
  const Time begin = std::max(at, from.out_free);
  const Time arrival = begin + latency(message.from, message.to, costs);
  heap_.add(arrival, kArrival, id);
  reaches(begin);
  if (options_.has_contention) {
    from.out_free = begin + costs.gap;
    ++from.sending;
    return;
  }
  const Time stream = costs.stream_of(bytes);
  from.sending_until = std::max(from.sending_until, arrival + stream);
  from.out_free = begin + std::max(costs.gap, stream);
  if (bytes == message.bytes && !message.is_eager) left(id, begin + stream);
}

// All bytes of a rendezvous message have left its sender.
void Engine::left(uint32_t id, Time at) {
  Message& message = messages_[id];
  if (message.send_request == kNone) return;
  const Time there = message.answered > message.asked ? message.answered : kNever;
  const uint32_t place = std::exchange(message.send_request, kNone);
  complete(message.from, place, {at, there, 0});
}

void Engine::arrives(uint32_t id) {
  const Message& message = messages_[id];
  if (costs_.is_copy(message.from, message.to)) return is_available(id, now_);
  const MessageCosts costs = kept_costs_.of(message.from, message.to, message.bytes);
  if (options_.has_contention) {
    route_.clear();
    routes_->route(costs_.node(message.from), costs_.node(message.to), route_);
    double most = costs.per_byte > 0 ? 1 / costs.per_byte : 0;
    const double core = costs_.machine().topology.core_bandwidth.value * 1e-9;
    if (route_.empty() && core > 0) most = most > 0 ? std::min(most, core) : core;
    const bool by_hops = costs_.machine().topology.shares_by_hops && !route_.empty();
    const double weight = by_hops ? 1 / static_cast<double>(route_.size()) : 1;
    return network_.start(now_, id, first_share(message) + costs_.machine().topology.header, most,
                          route_, weight);
  }
  RankState& to = ranks_[message.to];
  const Time stream = costs.stream_of(first_share(message));
  const Time begin = std::max(now_, to.in_free) + crossing(message, costs);
  reaches(begin);
  to.in_free = begin + std::max(costs.gap, stream);
  is_available(id, begin + stream);
}

void Engine::is_available(uint32_t id, Time at) {
  if (messages_[id].is_eager && !messages_[id].is_put) ask_acknowledgement(id, at);
  Message& message = messages_[id];
  if (message.is_put) {
    const MessageCosts costs = kept_costs_.of(message.to, message.from, 0);
    complete(message.from, message.send_request, {at + latency(message.to, message.from, costs)});
    return free_message(id);
  }
  if (message.is_shared) return heap_.add(at, kPartial, id);
  message.available = at;
  if (message.is_unmatched) return envelope_comes(id);
  if (message.posted != kNever) finish_message(id, at);
}

// The acknowledgement is a message of its own: the receive may be complete long before the
// receiver's processor gets to it, or long after.
void Engine::ask_acknowledgement(uint32_t id, Time at) {
  const uint32_t place = std::exchange(messages_[id].send_request, kNone);
  if (place == kNone) return;
  const uint32_t note = new_message();
  const Message& message = messages_[id];
  messages_[note].from = message.from;
  messages_[note].to = message.to;
  messages_[note].bytes = message.bytes;
  messages_[note].send_request = place;
  heap_.add(at, kTaken, note);
}

// Given when the receiver has taken the message, which needs it in MPI. `there`: since when it is.
void Engine::acknowledge(uint32_t id, Time at, Time there) {
  const Message message = messages_[id];
  if (!is_inside(message.to, at) && costs_.protocol(message.from, message.to).overlap.value == 0)
    return ranks_[message.to].held.push_back({Pending::kTaken, id});
  const MessageCosts costs = kept_costs_.of(message.from, message.to, message.bytes);
  free_message(id);
  const Time end = at + costs.receive + notice(message.to, message.from, costs);
  complete(message.from, message.send_request, {end, there, 0});
}

// The rest of a message, which goes on while the receiver is in MPI.
void Engine::rest_comes(uint32_t id, Time at) {
  Message& message = messages_[id];
  if (!is_inside(message.to, at)) return ranks_[message.to].held.push_back({Pending::kRest, id});
  const MessageCosts costs = kept_costs_.of(message.from, message.to, message.bytes);
  const auto rest = static_cast<double>(message.bytes - first_share(message));
  const Time end = at + rounded(rest * costs.per_byte);
  left(id, std::max(at, end - latency(message.from, message.to, costs)));
  finish_message(id, end);
}

// Both ends are there, and all bytes.
void Engine::finish_message(uint32_t id, Time at) {
  const Message message = messages_[id];
  Completion completion;
  completion.at = std::max(at, message.posted);
  completion.there = message.there;
  completion.cost = kept_costs_.of(message.from, message.to, message.bytes).receive;
  if (message.is_eager && !message.is_get && message.posted > at)
    completion.cost += costs_.copy(message.from, message.to, message.bytes);
  free_message(id);
  complete(message.to, message.receive_request, completion);
}

void Engine::one_sided(Agent& agent, const Action& action) {
  const uint32_t id = new_message();
  Message& message = messages_[id];
  const bool puts = action.kind == ActionKind::kPut;
  message.bytes = action.amount;
  message.from = puts ? agent.rank : action.peer;
  message.to = puts ? action.peer : agent.rank;
  message.is_put = puts;
  message.is_get = !puts;
  (puts ? message.send_request : message.receive_request) = add_part(agent.rank, action.request);
  message.posted = agent.now;
  const MessageCosts costs = kept_costs_.of(message.from, message.to, action.amount);
  if (puts) {
    begin_transfer(id, agent.now + costs.send, action.amount);
    return spend(agent, costs.send);
  }
  heap_.add(agent.now + costs.post + latency(agent.rank, action.peer, costs), kGetBegins, id);
  spend(agent, costs.post);
}

}  // namespace refrain::sim
