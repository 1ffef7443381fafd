#include "sim/engine/engine.h"

#include <algorithm>
#include <utility>

namespace refrain::sim {

Engine::Engine(const Costs& costs, ActionSource& source, const EngineOptions& options)
    : costs_(costs), source_(source), options_(options), ranks_(costs.ranks()) {
  // Latencies of long routes are there without contention, too.
  if (options.has_contention || costs.machine().topology.hop_latency.value > 0) {
    uint32_t nodes = 0;
    for (uint32_t rank = 0; rank < costs.ranks(); ++rank)
      nodes = std::max(nodes, costs.node(rank) + 1);
    routes_.emplace(costs.machine().topology, nodes, network_);
  }
  const FileServers& files = costs.machine().files;
  first_server_ = static_cast<uint32_t>(network_.links());
  if (files.bandwidth > 0)
    for (uint64_t i = 0; i < files.servers; ++i) network_.add_link(files.bandwidth), ++servers_;
}

Engine::~Engine() = default;

AgentId Engine::add(uint32_t rank) {
  const auto id = static_cast<AgentId>(agents_.size());
  agents_.emplace_back();
  agents_.back().rank = rank;
  if (ranks_[rank].first_agent == kNone) {
    ranks_[rank].first_agent = id;
    agents_.back().counts = true;
  }
  return id;
}

AgentId Engine::add_background(uint32_t rank) {
  agents_.emplace_back();
  agents_.back().rank = rank;
  agents_.back().is_background = true;
  agents_.back().wait = Wait::kIdle;
  return static_cast<AgentId>(agents_.size() - 1);
}

EngineResult Engine::run() {
  for (AgentId id = 0; id < agents_.size(); ++id)
    if (agents_[id].wait == Wait::kNot) heap_.add(0, kResume, id);
  while (!must_stop()) {
    if (!runnable_.empty()) {
      const AgentId id = runnable_.back();
      runnable_.pop_back();
      resume(id);
      continue;
    }
    const Time flow = network_.next();
    if (flow != FairNetwork::kNever && (heap_.empty() || flow <= heap_.top().time)) {
      now_ = flow;
      flow_ends();
    } else if (!heap_.empty()) {
      const Event event = heap_.take();
      now_ = event.time;
      handle(event);
    } else {
      break;
    }
    reaches(now_);
    ++result_.events;
  }
  return finish();
}

void Engine::handle(const Event& event) {
  const uint32_t id = event.subject;
  switch (static_cast<EventKind>(event.order & 15)) {
    case kResume: return resume(id);
    case kArrival: return arrives(id);
    case kRequested: return request_comes(id);
    case kAnswered: return begin_data(id);
    case kPartial: return rest_comes(id, now_);
    case kTaken: return acknowledge(id, now_, kNever);
    case kGetBegins: return begin_transfer(id, now_, messages_[id].bytes);
    case kReady:
      if (agents_[id].wait == Wait::kSome && wait_some(id)) {
        ++agents_[id].at;
        go(id);
      }
      return;
    case kLockComes: return lock_comes(id);
    case kLockGoes: return lock_goes(id);
  }
}

// What others can see of an agent happens in the order of time.
bool Engine::has_to_yield(AgentId id, Agent& agent, const Action& action) {
  const ActionKind kind = action.kind;
  if (agent.now <= now_) return false;
  const bool is_seen = agent.is_background || kind == ActionKind::kEnter ||
                       kind == ActionKind::kSend || kind == ActionKind::kAccess ||
                       kind == ActionKind::kPut || kind == ActionKind::kGet ||
                       action.is_matched_here;
  if (!is_seen) return false;
  if (runnable_.empty() && (heap_.empty() || heap_.top().time > agent.now) &&
      network_.next() == FairNetwork::kNever) {
    now_ = agent.now;
    return false;
  }
  heap_.add(agent.now, kResume, id);
  return true;
}

namespace {

// Of a batch, what its agent does when it goes on. By then the actions of all others have been
// read, which fit into no near cache.
void expect(const std::vector<Action>& actions, size_t at) {
  constexpr size_t kBytes = 320, kLine = 64;
  const auto* const begin = reinterpret_cast<const char*>(actions.data() + at);
  for (size_t offset = 0; offset < kBytes; offset += kLine)
    __builtin_prefetch(begin + offset, 0, 2);
}

}  // namespace

void Engine::go(AgentId id) {
  while (true) {
    Agent& agent = agents_[id];
    if (agent.at >= agent.batch.actions.size()) {
      agent.at = 0;
      // The source may add agents.
      Batch batch = std::move(agent.batch);
      batch.clear();
      source_.fill(id, batch);
      agents_[id].batch = std::move(batch);
      if (agents_[id].batch.actions.empty()) return end(id);
      continue;
    }
    const Action action = agent.batch.actions[agent.at];
    if (has_to_yield(id, agent, action)) return expect(agent.batch.actions, agent.at);
    if (agent.is_background && !is_inside(agent.rank, agent.now) &&
        costs_.machine().distances[kDistances - 1].overlap.value == 0) {
      agent.wait = Wait::kHeld;
      ranks_[agent.rank].held.push_back({Pending::kAgent, id});
      return;
    }
    if ((++result_.actions & 0xfffff) == 0 && progress_) progress_(result_.actions);
    if (result_.actions > options_.most_actions) {
      result_.was_stopped = true;
      return;
    }
    const bool goes_on = step(id, action);
    reaches(agents_[id].now);
    if (!goes_on || must_stop()) {
      Agent& stopped = agents_[id];
      return expect(stopped.batch.actions, stopped.at);
    }
    ++agents_[id].at;
  }
}

bool Engine::step(AgentId id, const Action& action) {
  Agent& agent = agents_[id];
  ++agent.steps;
  switch (action.kind) {
    case ActionKind::kCompute: {
      const Time ns = costs_.computation(agent.rank, action.amount);
      agent.now += ns;
      if (agent.counts) ranks_[agent.rank].times.computed += ns;
      break;
    }
    case ActionKind::kEnter:
      agent.tag = action.tag;
      agent.steps = 0;
      ++agent.entered_calls;
      enter(agent);
      if (action.is_marked && mark_) mark_(agent.now);
      break;
    case ActionKind::kLeave: leave(id, agent); break;
    case ActionKind::kSend: send(agent, action); break;
    case ActionKind::kReceive: receive(agent, action); break;
    case ActionKind::kWait:
    case ActionKind::kWaitAll: return wait_for(id, action);
    case ActionKind::kWaitSome: return wait_some(id);
    case ActionKind::kPut:
    case ActionKind::kGet: one_sided(agent, action); break;
    case ActionKind::kMeet: return join(id, action);
    case ActionKind::kLock:
    case ActionKind::kUnlock: lock(agent, action); break;
    case ActionKind::kAccess: access(agent, action); break;
    case ActionKind::kSpend: spend(agent, static_cast<Time>(action.amount)); break;
    case ActionKind::kBegin: begin(agent, action); break;
    case ActionKind::kPosted: posted(agent, action); break;
    case ActionKind::kAwait: return await_post(id, action);
    case ActionKind::kMeasure:
      ranks_[agent.rank].times = {};
      ranks_[agent.rank].times.begin = agent.now;
      break;
    case ActionKind::kMeasured:
      ranks_[agent.rank].times.end = agent.now;
      agent.counts = false;
      break;
  }
  return true;
}

void Engine::enter(Agent& agent) {
  RankState& rank = ranks_[agent.rank];
  agent.entered = agent.there = agent.now;
  agent.is_in_call = true;
  rank.inside_until = std::max(rank.inside_until, agent.now);
  if (rank.held.empty()) return;
  const std::vector<Held> held = std::exchange(rank.held, {});
  for (const Held& one : held) {
    if (one.what == Pending::kAnswer) answer(one.subject, agent.now, false);
    if (one.what == Pending::kRest) rest_comes(one.subject, agent.now);
    if (one.what == Pending::kTaken) acknowledge(one.subject, agent.now, agent.now);
    if (one.what != Pending::kAgent) continue;
    agents_[one.subject].now = std::max(agents_[one.subject].now, agent.now);
    heap_.add(agents_[one.subject].now, kResume, one.subject);
  }
}

void Engine::leave(AgentId id, Agent& agent) {
  agent.is_in_call = false;
  ++ranks_[agent.rank].times.calls;
  if (observer_ != nullptr) observer_->call(id, agent.tag, agent.entered, agent.now);
}

void Engine::spend(Agent& agent, Time ns) {
  RankState& rank = ranks_[agent.rank];
  agent.now += ns;
  if (agent.counts) rank.times.communicated += ns;
  if (agent.is_in_call) rank.inside_until = std::max(rank.inside_until, agent.now);
}

void Engine::begin(Agent& agent, const Action& action) {
  Agent& other = agents_[action.peer];
  other.now = other.there = agent.now;
  other.there = agent.there;
  other.wait = Wait::kHeld;  // resume() lets it go on
  other.steps = 0;
  other.at = 0;
  other.batch.clear();
  other.request = add_part(agent.rank, action.request);
  heap_.add(agent.now, kResume, action.peer);
}

void Engine::end(AgentId id) {
  Agent& agent = agents_[id];
  if (agent.is_background) {
    agent.wait = Wait::kIdle;
    complete(agent.rank, agent.request, {agent.now, agent.there, 0});
    return source_.ended(id);
  }
  agent.wait = Wait::kEnded;
  if (agent.counts) ranks_[agent.rank].times.end = agent.now;
}

EngineResult Engine::finish() {
  for (AgentId id = 0; id < agents_.size(); ++id) {
    const Agent& agent = agents_[id];
    if (agent.is_background || agent.wait == Wait::kEnded) continue;
    result_.stuck.push_back({id, agent.rank, agent.tag, agent.now});
  }
  for (const RankState& rank : ranks_) result_.ranks.push_back(rank.times);
  for (uint32_t link = 0; link < network_.links(); ++link) {
    const FairNetwork::Use use = network_.use(link);
    if (use.bytes == 0) continue;
    const bool is_server = link >= first_server_;
    result_.links.push_back({is_server ? "file server " + std::to_string(link - first_server_)
                                       : routes_->link_name(link),
                             use.bytes, use.busy_ns, link});
  }
  return std::move(result_);
}

}  // namespace refrain::sim
