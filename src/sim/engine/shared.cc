// What several ranks share: meetings, locks, file servers, links.
#include <algorithm>
#include <utility>

#include "sim/engine/engine.h"

namespace refrain::sim {

bool Engine::join(AgentId id, const Action& action) {
  Agent& agent = agents_[id];
  Meeting& meeting = meetings_[action.tag];
  ++meeting.come;
  meeting.last = std::max(meeting.last, agent.now);
  if (meeting.come < action.count) {
    meeting.agents.push_back(id);
    block(agent, Wait::kMeet);
    return false;
  }
  const Time until = meeting.last + static_cast<Time>(action.amount);
  const Time last = meeting.last;
  for (const AgentId other : meeting.agents) {
    agents_[other].until = until;
    agents_[other].until_there = last;
    runnable_.push_back(other);
  }
  meetings_.erase(action.tag);
  waits(agent, until, last);
  return true;
}

void Engine::lock(Agent& agent, const Action& action) {
  const auto [known, is_new] =
      lock_numbers_.try_emplace(action.tag, static_cast<uint32_t>(locks_.size()));
  if (is_new) {
    locks_.emplace_back();
    locks_.back().home = action.peer;
  }
  uint32_t id = static_cast<uint32_t>(lock_requests_.size());
  if (free_lock_requests_.empty()) {
    lock_requests_.emplace_back();
  } else {
    id = free_lock_requests_.back();
    free_lock_requests_.pop_back();
  }
  const MessageCosts costs = kept_costs_.of(agent.rank, action.peer, 0);
  const bool locks = action.kind == ActionKind::kLock;
  const uint32_t place = locks ? add_part(agent.rank, action.request) : kNone;
  lock_requests_[id] = {known->second, agent.rank, place, action.is_exclusive};
  heap_.add(agent.now + costs.post + latency(agent.rank, action.peer, costs),
            locks ? kLockComes : kLockGoes, id);
  spend(agent, costs.post);
}

void Engine::lock_comes(uint32_t id) {
  const LockRequest request = lock_requests_[id];
  free_lock_requests_.push_back(id);
  Lock& lock = locks_[request.lock];
  lock.queue.push_back({request.rank, request.request, request.is_exclusive});
  grant(lock);
}

void Engine::lock_goes(uint32_t id) {
  const LockRequest request = lock_requests_[id];
  free_lock_requests_.push_back(id);
  Lock& lock = locks_[request.lock];
  if (lock.holders > 0) --lock.holders;
  grant(lock);
}

// In the order in which they have asked.
void Engine::grant(Lock& lock) {
  size_t taken = 0;
  for (; taken < lock.queue.size(); ++taken) {
    const Lock::Asked& first = lock.queue[taken];
    if (lock.holders > 0 && (lock.is_exclusive || first.is_exclusive)) break;
    ++lock.holders;
    lock.is_exclusive = first.is_exclusive;
    const MessageCosts costs = kept_costs_.of(lock.home, first.rank, 0);
    complete(first.rank, first.request, {now_ + latency(lock.home, first.rank, costs), now_, 0});
  }
  lock.queue.erase(lock.queue.begin(), lock.queue.begin() + static_cast<int64_t>(taken));
}

void Engine::access(Agent& agent, const Action& action) {
  const Time wait = rounded(costs_.machine().files.latency_ns);
  const uint32_t place = add_part(agent.rank, action.request);
  if (servers_ == 0) return complete(agent.rank, place, {agent.now + wait});
  uint32_t id = static_cast<uint32_t>(accesses_.size());
  if (free_accesses_.empty()) {
    accesses_.emplace_back();
  } else {
    id = free_accesses_.back();
    free_accesses_.pop_back();
  }
  accesses_[id] = {agent.rank, place, wait};
  route_.assign(1, first_server_ + action.peer % servers_);
  network_.start(now_, id | 1U << 31, action.amount, 0, route_);
}

void Engine::flow_ends() {
  const uint32_t name = network_.end();
  if ((name >> 31) != 0) {
    const uint32_t id = name & ~(1U << 31);
    const FileAccess access = accesses_[id];
    free_accesses_.push_back(id);
    return complete(access.rank, access.request, {now_ + access.latency});
  }
  const Message& message = messages_[name];
  const MessageCosts costs = kept_costs_.of(message.from, message.to, message.bytes);
  // Messages of longer routes may have been overtaken: the interface takes them as they end.
  RankState &from = ranks_[message.from], &to = ranks_[message.to];
  --from.sending;
  from.sending_until = std::max(from.sending_until, now_);
  const Time at = std::max(now_, to.in_free) + crossing(message, costs);
  to.in_free = at + costs.gap;
  if (!message.is_eager && !message.is_shared) left(name, now_);
  is_available(name, at);
}

}  // namespace refrain::sim
