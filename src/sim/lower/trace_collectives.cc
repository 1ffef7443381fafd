// Collectives of a trace, as steps of messages.
#include <algorithm>

#include "events/payload.h"
#include "sim/lower/trace_state.h"

namespace refrain::sim {

using events::Op;
using OpAction = events::Action;

namespace {

// Tags of messages that are not the program's; those are 0 and more.
constexpr int64_t kBlockingTag = -1;
constexpr int64_t kFirstTag = -2;
constexpr int64_t kFirstDuplication = -1000;
constexpr int64_t kFirstNeighbours = -2000;
constexpr uint64_t kTags = 64;  // nonblocking collectives of a communicator at a time

}  // namespace

const PreparedCollective& TraceActions::prepared(RankState& rank, const Op& op,
                                                 const Signature& call) {
  const auto known = rank.prepared.find(&op);
  if (known != rank.prepared.end()) return known->second;
  PreparedCollective& out = rank.prepared[&op];
  out = prepare_collective(trace_, machine_, op, call);
  out.call.blocks = out.blocks.get();
  return out;
}

// All ranks that call it leave together. They come in one order to the meetings of a communicator,
// and to those of a file.
void TraceActions::meet(RankState& rank, const Op& op, uint64_t ns, Batch& batch) {
  const uint64_t of = uint64_t{op.comm.key} << 16 | (static_cast<uint64_t>(op.file + 1) & 0xffff);
  Action& action = add(batch, ActionKind::kMeet);
  action.tag = of << 28 ^ ++rank.meetings[of];
  action.count = static_cast<uint32_t>(std::max<uint64_t>(1, op.comm.all_ranks));
  action.amount = ns;
}

// False: steps follow.
bool TraceActions::begin_collective(AgentState& agent, const events::Event& event, Batch& batch) {
  const Op& op = *event.op;
  if (op.collective == events::CollectiveKind::kFence && op.comm.key != events::kNoComm)
    wait_for(agent, window_slot(agent, events::argument(*event.call, "win").number), batch, false);
  const PreparedCollective& what = prepared(*agent.rank, op, *event.call);
  if (what.is_analytic()) {
    meet(*agent.rank, op, what.formula_ns, batch);
    return true;
  }
  agent.running = {&what, &op, kBlockingTag, 0};
  return false;
}

// An agent that does nothing now.
AgentId TraceActions::background(RankState& rank) {
  if (!rank.idle.empty()) {
    const AgentId id = rank.idle.back();
    rank.idle.pop_back();
    return id;
  }
  auto state = std::make_unique<AgentState>();
  state->rank = &rank;
  state->is_background = true;
  agents_.push_back(std::move(state));
  return engine_->add_background(static_cast<uint32_t>(rank.rank));
}

void TraceActions::begin_beside(RankState& rank, const Running& what, uint32_t slot, Batch& batch) {
  const AgentId id = background(rank);
  agents_[id]->running = what;
  Action& action = add(batch, ActionKind::kBegin);
  action.peer = id;
  action.request = slot;
}

void TraceActions::begin_background(AgentState& agent, const events::Step& step, Batch& batch) {
  RankState& rank = *agent.rank;
  const uint32_t slot = slot_of(agent, step);
  const int64_t tag = kFirstTag - static_cast<int64_t>(step.collective % kTags);
  begin_beside(rank, {&prepared(rank, *step.op, *step.made_by), step.op, tag, 0}, slot, batch);
}

// Nobody is told which call completes it: no call waits for it.
void TraceActions::begin_duplication(AgentState& agent, const events::Event& event, Batch& batch) {
  RankState& rank = *agent.rank;
  const uint64_t number = ++rank.duplications[event.op->comm.key];
  const int64_t tag = kFirstDuplication - static_cast<int64_t>(number % kTags);
  begin_beside(rank, {&prepared(rank, *event.op, *event.call), event.op, tag, 0}, rank.slots++,
               batch);
}

// nullptr: the topology is not known, which is counted.
const PreparedCollective* TraceActions::prepared_neighbours(RankState& rank, const Op& op,
                                                            const Signature& call) {
  const auto topology = rank.topologies.find(op.comm.key);
  const Neighbours::Lists* const lists = topology == rank.topologies.end()
                                             ? nullptr
                                             : neighbours_->of(topology->second, op.comm.comm.me);
  if (lists == nullptr) {
    count(call);
    return nullptr;
  }
  const auto [known, is_new] = rank.exchange_forms.try_emplace({&op, lists});
  if (is_new) {
    known->second = prepare_neighbours(trace_, op, call, *lists);
    known->second.call.blocks = known->second.blocks.get();
  }
  return &known->second;
}

TraceActions::Running TraceActions::next_exchange(RankState& rank, const PreparedCollective& what,
                                                  const Op& op) {
  const uint64_t number = ++rank.exchanges[op.comm.key];
  return {&what, &op, kFirstNeighbours - static_cast<int64_t>(number % kTags), 0};
}

// False: steps follow.
bool TraceActions::lower_neighbours(AgentState& agent, const events::Event& event, Batch& batch) {
  RankState& rank = *agent.rank;
  const Op& op = *event.op;
  const PreparedCollective* const what = prepared_neighbours(rank, op, *event.call);
  if (what == nullptr) return true;
  if (op.is_persistent) {
    rank.persistent_exchanges[event.call->id] = {what, &op};
  } else if (op.makes_request) {
    const uint32_t slot = new_slot(agent);
    begin_beside(rank, next_exchange(rank, *what, op), slot, batch);
    rank.open_exchanges[event.call->id] = slot;
  } else {
    agent.running = next_exchange(rank, *what, op);
    return false;
  }
  return true;
}

// Requests of such collectives, which others do not follow: starts and ends.
void TraceActions::lower_exchanges(AgentState& agent, const Op& op, Batch& batch,
                                   std::vector<uint32_t>& waits) {
  RankState& rank = *agent.rank;
  if (rank.open_exchanges.empty() && rank.persistent_exchanges.empty()) return;
  for (const events::RequestUse& use : op.requests) {
    const auto persistent = rank.persistent_exchanges.find(use.request);
    if (op.action == OpAction::kStart && persistent != rank.persistent_exchanges.end()) {
      const auto [what, made_by] = persistent->second;
      const uint32_t slot = new_slot(agent);
      begin_beside(rank, next_exchange(rank, *what, *made_by), slot, batch);
      rank.open_exchanges[use.request] = slot;
      ++starts_lowered_;
    }
    const auto open = rank.open_exchanges.find(use.request);
    if (op.action == OpAction::kComplete && open != rank.open_exchanges.end()) {
      waits.push_back(open->second);
      rank.open_exchanges.erase(open);
    }
    if (op.action == OpAction::kFree) {
      rank.open_exchanges.erase(use.request);
      rank.persistent_exchanges.erase(use.request);
    }
  }
}

// The next step of the agent's collective; at its end, the call ends.
void TraceActions::run_collective(AgentState& agent, Batch& batch) {
  Running& running = agent.running;
  const PreparedCollective& what = *running.what;
  if (what.is_analytic()) {  // nonblocking
    meet(*agent.rank, *running.op, what.formula_ns, batch);
    running = {};
    return;
  }
  Step step;
  if (!what.step(running.step++, step)) {
    running = {};
    if (!agent.is_background) add(batch, ActionKind::kLeave);
    return;
  }
  if (step.parts.empty()) return;
  const Communicator& comm = running.op->comm.comm;
  const Rank me = agent.rank->rank;
  std::stable_partition(step.parts.begin(), step.parts.end(),
                        [](const Part& part) { return !part.sends; });
  const auto first = static_cast<uint32_t>(batch.requests.size());
  for (const Part& part : step.parts) {
    const Rank peer = comm.member(part.peer);
    if (peer < 0) continue;
    Action& action = add(batch, part.sends ? ActionKind::kSend : ActionKind::kReceive);
    action.channel = part.sends ? channel({running.op->comm.key, me, peer, running.tag})
                                : channel({running.op->comm.key, peer, me, running.tag});
    action.peer = static_cast<uint32_t>(peer);
    action.amount = part.bytes;
    action.request = new_slot(agent);
    batch.requests.push_back(action.request);
  }
  Action& wait = add(batch, ActionKind::kWaitAll);
  wait.first = first;
  wait.count = static_cast<uint32_t>(batch.requests.size()) - first;
  agent.free.insert(agent.free.end(), batch.requests.begin() + first, batch.requests.end());
  const double reducing = machine_.collectives.reduce_per_byte * static_cast<double>(step.reduced);
  if (reducing > 0)
    add(batch, ActionKind::kSpend).amount = static_cast<uint64_t>(rounded(reducing));
}

}  // namespace refrain::sim
