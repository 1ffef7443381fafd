// Requests, and agents that wait for them.
#include <algorithm>
#include <utility>

#include "sim/engine/engine.h"

namespace refrain::sim {

Engine::Request& Engine::slot(uint32_t rank, uint32_t place) {
  std::vector<Request>& all = ranks_[rank].requests;
  if (place >= all.size()) all.resize(std::max<size_t>(place + 1, 2 * all.size()));
  return all[place];
}

uint32_t Engine::place_of(uint32_t rank, uint32_t request) const {
  const std::vector<uint32_t>& places = ranks_[rank].places;
  return request < places.size() ? places[request] : request;
}

uint32_t Engine::name_of(uint32_t rank, uint32_t place) const {
  const std::vector<uint32_t>& names = ranks_[rank].names;
  return place < names.size() ? names[place] : place;
}

uint32_t Engine::add_part(uint32_t rank, uint32_t request) {
  if (request == kNoRequest) return kNoRequest;
  const uint32_t at = place_of(rank, request);
  Request& to = slot(rank, at);
  ++to.parts;
  ++to.open;
  return at;
}

void Engine::complete(uint32_t rank, uint32_t place, const Completion& completion) {
  if (place == kNoRequest) return;
  Request& of = slot(rank, place);
  if (completion.at >= of.done) of.there = completion.there;
  of.done = std::max(of.done, completion.at);
  of.cost += completion.cost;
  if (of.open > 0) --of.open;
  if (of.open > 0 || of.waiter == kNone) return;
  Agent& agent = agents_[of.waiter];
  if (agent.wait == Wait::kSome) {
    heap_.add(std::max(now_, of.done), kReady, of.waiter);
  } else if (--agent.missing == 0) {
    runnable_.push_back(of.waiter);
  }
  of.waiter = kNone;
}

void Engine::waits(Agent& agent, Time until, Time there) {
  if (until <= agent.now) return;
  const Time all = until - agent.now;
  const Time absent = std::clamp<Time>(there - agent.now, 0, all);
  RankState& rank = ranks_[agent.rank];
  if (agent.counts) {
    rank.times.waited += absent;
    rank.times.communicated += all - absent;
  }
  agent.now = until;
  agent.there = std::max(agent.there, there);
  if (agent.is_in_call) rank.inside_until = std::max(rank.inside_until, agent.now);
}

void Engine::block(Agent& agent, Wait wait) {
  agent.wait = wait;
  if (agent.is_in_call) ++ranks_[agent.rank].waiting;
}

void Engine::take(Agent& agent, Request& request) {
  if (request.parts > 0) {
    waits(agent, request.done, request.there);
    spend(agent, request.cost);
  }
  request = Request();
}

// In the order in which they were complete: the processor has one at a time.
void Engine::take_all(Agent& agent, const uint32_t* first, uint32_t count) {
  if (count == 1) return take(agent, named(agent.rank, *first));
  std::vector<std::pair<Time, uint32_t>> order;
  order.swap(order_);
  order.clear();
  for (uint32_t i = 0; i < count; ++i) order.push_back({named(agent.rank, first[i]).done, i});
  std::sort(order.begin(), order.end());
  for (const auto& [done, i] : order) take(agent, named(agent.rank, first[i]));
  order.swap(order_);
}

// False: not all are complete; the agent goes on when they are.
bool Engine::wait_for(AgentId id, const Action& action) {
  Agent& agent = agents_[id];
  const bool is_one = action.kind == ActionKind::kWait;
  const uint32_t* const first =
      is_one ? &action.request : agent.batch.requests.data() + action.first;
  const uint32_t count = is_one ? 1 : action.count;
  agent.missing = 0;
  for (uint32_t i = 0; i < count; ++i) {
    Request& request = named(agent.rank, first[i]);
    if (request.open == 0 || request.waiter == id) continue;
    request.waiter = id;
    ++agent.missing;
  }
  if (agent.missing > 0) {
    block(agent, is_one ? Wait::kOne : Wait::kAll);
    return false;
  }
  take_all(agent, first, count);
  return true;
}

void Engine::swap_requests(uint32_t rank, uint32_t a, uint32_t b) {
  RankState& of = ranks_[rank];
  const size_t least = std::max({size_t{a} + 1, size_t{b} + 1, of.requests.size()});
  while (of.places.size() < least) {
    of.places.push_back(static_cast<uint32_t>(of.places.size()));
    of.names.push_back(static_cast<uint32_t>(of.names.size()));
  }
  std::swap(of.places[a], of.places[b]);
  of.names[of.places[a]] = a;
  of.names[of.places[b]] = b;
}

// The first of them to be complete are taken; the names that the action counts are theirs then, and
// have given away what they stood for.
bool Engine::wait_some(AgentId id) {
  Agent& agent = agents_[id];
  const Action& action = agent.batch.actions[agent.at];
  const uint32_t* const names = agent.batch.requests.data() + action.first;
  std::vector<std::pair<Time, uint32_t>> done;
  for (uint32_t i = 0; i < action.count; ++i) {
    Request& request = named(agent.rank, names[i]);
    if (request.open > 0)
      request.waiter = id;
    else if (request.parts > 0 || i < action.amount)
      done.push_back({request.done, i});
  }
  std::sort(done.begin(), done.end());
  const size_t wanted = std::min<size_t>(action.amount, action.count);
  const Time now = std::max(now_, agent.now);
  if (done.size() < wanted || (wanted > 0 && done[wanted - 1].first > now)) {
    if (agent.wait != Wait::kSome) block(agent, Wait::kSome);
    if (done.size() >= wanted) heap_.add(done[wanted - 1].first, kReady, id);
    return false;
  }
  if (agent.wait == Wait::kSome && agent.is_in_call) --ranks_[agent.rank].waiting;
  agent.wait = Wait::kNot;
  for (uint32_t i = 0; i < action.count; ++i) named(agent.rank, names[i]).waiter = kNone;
  std::vector<uint32_t> others;  // named, and not among the first
  for (uint32_t i = 0; i < wanted; ++i)
    if (std::none_of(done.begin(), done.begin() + static_cast<int64_t>(wanted),
                     [&](const auto& one) { return one.second == i; }))
      others.push_back(i);
  size_t next = 0;
  for (size_t i = 0; i < wanted; ++i)
    if (done[i].second >= wanted)
      swap_requests(agent.rank, names[done[i].second], names[others[next++]]);
  take_all(agent, names, static_cast<uint32_t>(wanted));
  return true;
}

Engine::Post& Engine::post_of(uint32_t rank, uint32_t request) {
  std::vector<Post>& all = ranks_[rank].posts;
  if (request >= all.size()) all.resize(std::max<size_t>(request + 1, 2 * all.size()));
  return all[request];
}

void Engine::posted(const Agent& agent, const Action& action) {
  Post& post = post_of(agent.rank, action.request);
  post.uses = action.tag;
  post.at = agent.now;
  if (post.waiter != kNone) runnable_.push_back(std::exchange(post.waiter, kNone));
}

// False: not yet. The agent comes here again when it is.
bool Engine::await_post(AgentId id, const Action& action) {
  Agent& agent = agents_[id];
  Post& post = post_of(agent.rank, action.request);
  if (post.uses >= action.tag) {
    if (agent.is_in_call) {
      waits(agent, post.at, post.at);
    } else if (post.at > agent.now) {  // for a thread, not for MPI
      if (agent.counts) ranks_[agent.rank].times.computed += post.at - agent.now;
      agent.now = post.at;
    }
    return true;
  }
  post.waiter = id;
  block(agent, Wait::kPost);
  return false;
}

// Of an agent that waited for an event of its own, or for what is complete now.
void Engine::resume(AgentId id) {
  Agent& agent = agents_[id];
  const Wait wait = std::exchange(agent.wait, Wait::kNot);
  if (wait == Wait::kPost && agent.is_in_call) --ranks_[agent.rank].waiting;
  const bool has_waited = wait == Wait::kOne || wait == Wait::kAll || wait == Wait::kMeet;
  if (has_waited) {
    if (agent.is_in_call) --ranks_[agent.rank].waiting;
    const Action action = agent.batch.actions[agent.at];
    if (wait == Wait::kMeet)
      waits(agent, agent.until, agent.until_there);
    else if (wait == Wait::kOne)
      take(agent, named(agent.rank, action.request));
    else
      take_all(agent, agent.batch.requests.data() + action.first, action.count);
    ++agent.at;
  }
  go(id);
}

}  // namespace refrain::sim
