// The state of a simulation as a number: two states are equal, but for when they are, if their
// numbers are. Requests, channels and agents have names that a loop gives again; what has none is
// named by what it is.
#include <algorithm>

#include "sim/engine/engine.h"

namespace refrain::sim {
namespace {

// A sum that depends on the order.
class Mix {
 public:
  Mix& operator<<(uint64_t value) {
    sum_ = (sum_ ^ value) * 0x9e3779b97f4a7c15U;
    sum_ ^= sum_ >> 29;
    return *this;
  }
  uint64_t value() const { return sum_; }

 private:
  uint64_t sum_ = 0x2545f4914f6cdd1dU;
};

uint64_t flags(bool a, bool b = false, bool c = false, bool d = false) {
  return uint64_t{a} | uint64_t{b} << 1 | uint64_t{c} << 2 | uint64_t{d} << 3;
}

}  // namespace

uint64_t Engine::since(Time at) const {
  return at <= kNever / 2 ? UINT64_MAX : static_cast<uint64_t>(at - now_);
}

uint64_t Engine::print_of(const Message& message) const {
  Mix mix;
  for (const Time at : {message.sent, message.there, message.posted, message.asked,
                        message.answered, message.available})
    mix << since(at);
  mix << message.bytes << message.from << message.to << name_of(message.from, message.send_request)
      << name_of(message.to, message.receive_request);
  mix << flags(message.is_eager, message.is_get, message.is_put, message.is_shared);
  mix << flags(ranks_[message.to].sending_until > message.sent);
  return mix.value();
}

uint64_t Engine::print_of(const Agent& agent, uint64_t behind) const {
  Mix mix;
  mix << agent.rank << static_cast<uint64_t>(agent.wait) << since(agent.now) << since(agent.there);
  mix << (agent.is_in_call ? since(agent.entered) : 0) << agent.entered_calls - behind;
  mix << agent.steps << agent.missing << name_of(agent.rank, agent.request);
  mix << (agent.wait == Wait::kMeet ? since(agent.until) : 0);
  mix << flags(agent.is_background, agent.is_in_call, agent.counts);
  return mix.value();
}

uint64_t Engine::print_of(const RankState& rank) const {
  Mix mix;
  mix << since(std::max(rank.out_free, now_)) << since(std::max(rank.in_free, now_));
  mix << since(std::max(rank.sending_until, now_)) << rank.sending;
  mix << (rank.inside_until >= now_ ? since(rank.inside_until) : UINT64_MAX) << rank.waiting;
  for (const Held& one : rank.held)
    mix << static_cast<uint64_t>(one.what)
        << (one.what == Pending::kAgent ? one.subject : print_of(messages_[one.subject]));
  for (size_t i = 0; i < rank.requests.size(); ++i) {
    const Request& request = rank.requests[i < rank.places.size() ? rank.places[i] : i];
    if (request.parts == 0 && request.open == 0) continue;
    mix << i << request.parts << request.open << since(request.done) << since(request.there)
        << static_cast<uint64_t>(request.cost) << request.waiter;
  }
  return mix.value();
}

uint64_t Engine::print_of(const Event& event) const {
  Mix mix;
  const auto kind = static_cast<EventKind>(event.order & 15);
  mix << since(event.time) << kind;
  switch (kind) {
    case kResume:
    case kReady: mix << event.subject; break;
    case kLockComes:
    case kLockGoes: {
      const LockRequest& request = lock_requests_[event.subject];
      mix << request.lock << request.rank << name_of(request.rank, request.request)
          << flags(request.is_exclusive);
      break;
    }
    default: mix << print_of(messages_[event.subject]);
  }
  return mix.value();
}

uint64_t Engine::fingerprint(const std::vector<uint64_t>& behind) const {
  Mix mix;
  for (size_t i = 0; i < agents_.size(); ++i)
    if (!agents_[i].is_background || agents_[i].wait != Wait::kIdle)
      mix << i << print_of(agents_[i], behind[agents_[i].rank]);
  for (const RankState& rank : ranks_) mix << print_of(rank);
  for (size_t i = 0; i < channels_.size(); ++i) {
    if (channels_[i].first == kNone) continue;
    mix << i << flags(channels_[i].are_sends);
    for (uint32_t id = channels_[i].first; id != kNone; id = messages_[id].next)
      mix << print_of(messages_[id]);
  }
  std::vector<Event> events = heap_.all();
  std::sort(events.begin(), events.end(),
            [](const Event& a, const Event& b) { return a.is_before(b); });
  for (const Event& event : events) mix << print_of(event);
  for (const AgentId id : runnable_) mix << id;
  uint64_t meetings = 0;
  for (const auto& [tag, meeting] : meetings_) {
    Mix one;
    one << meeting.come << since(meeting.last);
    for (const AgentId id : meeting.agents) one << id;
    meetings += one.value();
  }
  mix << meetings;
  for (const Lock& lock : locks_) {
    mix << lock.holders << flags(lock.is_exclusive);
    for (const Lock::Asked& one : lock.queue) mix << one.rank << name_of(one.rank, one.request);
  }
  uint64_t flows = 0;
  network_.for_each_flow(now_, [&](uint32_t name, double left, double rate) {
    Mix one;
    const bool is_access = name >> 31 != 0;
    const uint32_t id = name & ~(1U << 31);
    one << flags(is_access)
        << (is_access ? uint64_t{accesses_[id].rank} << 32 |
                            name_of(accesses_[id].rank, accesses_[id].request)
                      : print_of(messages_[id]));
    // Sums of fractions differ in their last digits.
    one << static_cast<uint64_t>(left * 16 + 0.5) << static_cast<uint64_t>(rate * 1e6 + 0.5);
    flows += one.value();
  });
  mix << flows;
  return mix.value();
}

}  // namespace refrain::sim
