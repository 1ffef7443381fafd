#include "sim/lower/trace_actions.h"

#include <algorithm>
#include <utility>

#include "events/payload.h"
#include "mpi/call_ids.h"
#include "mpi/call_meaning.h"
#include "sim/lower/trace_state.h"

namespace refrain::sim {

using events::Op;

using events::StepKind;
using OpAction = events::Action;

TraceActions::TraceActions(const Trace& trace, const Machine& machine, events::Scope& scope,
                           events::DecodedRanks& decoded)
    : trace_(trace), machine_(machine), scope_(scope), decoded_(decoded) {
  has_times_ = trace.has_times();
  has_gaps_ = !has_times_ && trace.has_gaps();
}

TraceActions::~TraceActions() = default;

void TraceActions::begin(Engine& engine) {
  engine_ = &engine;
  if (Neighbours::are_needed(trace_))
    neighbours_ = std::make_unique<Neighbours>(trace_, decoded_.world().comms);
  for (Rank rank = 0; rank < trace_.rank_count(); ++rank) {
    auto state = std::make_unique<RankState>();
    state->rank = rank;
    state->events =
        std::make_unique<events::RankEvents>(scope_, decoded_.world(), decoded_.of(rank));
    const auto group = trace_.group_of(rank);
    bool has_init = false;
    if (group)
      for (const Trace::Occurrence& seen : trace_.occurrences(*group)) {
        const CallId call = trace_.call_of(seen.signature);
        has_init = has_init || call == mpi::kMPI_Init || call == mpi::kMPI_Init_thread;
      }
    state->has_begun = !has_init;
    const size_t first_agent = agents_.size();
    for (const Location& location : trace_.locations(rank)) {
      auto agent = std::make_unique<AgentState>();
      agent->rank = state.get();
      agent->thread = location.thread;
      state->ahead[location.thread];
      state->gaps[location.thread] = reader::CallGaps(trace_, rank, location.thread);
      if (!has_init) state->gaps[location.thread].busy_until(0);
      agents_.push_back(std::move(agent));
      engine.add(static_cast<uint32_t>(rank));
    }
    state->has_threads = state->ahead.size() > 1;
    if (state->has_threads) find_starts(*state, first_agent);
    if (matches_here_) find_wildcards(*state);
    ranks_.push_back(std::move(state));
  }
}

bool TraceActions::has_threads(const Trace& trace) {
  for (GroupId group = 0; group < trace.group_count(); ++group)
    if (trace.group_locations(group).size() > 1) return true;
  return false;
}

bool TraceActions::are_independent(const Trace& trace) {
  if (has_threads(trace)) return false;
  for (SignatureId id = 0; id < trace.signature_count(); ++id) {
    const mpi::CallMeaning& meaning = mpi::meaning_of(trace.call_of(id));
    const bool goes_on = meaning.how == mpi::How::kNonblocking ||
                         meaning.how == mpi::How::kPersistent || meaning.how == mpi::How::kEnqueues;
    if (goes_on && meaning.does_any(mpi::kDoesCollective)) return false;
  }
  return true;
}

TraceActions::Place TraceActions::place(AgentId agent) const {
  return {agents_[agent]->rank->rank, agents_[agent]->thread};
}

std::string TraceActions::compute_from() const {
  if (times_ != nullptr) return times_->name();
  if (!has_times_) return has_gaps_ ? "gaps" : "statistics";
  const auto timing = trace_.timing();
  if (!timing.ok()) return "exact";
  switch (timing->kind) {
    case TimingKind::kBounded: return "bins";
    case TimingKind::kSegments: return "segments";
    default: return "exact";
  }
}

std::map<std::string, uint64_t> TraceActions::not_lowered() const {
  std::map<std::string, uint64_t> out = not_lowered_;
  for (const auto& rank : ranks_) rank->events->report();
  for (const auto& [what, count] : scope_.tally.not_held)
    if (what.find("built") == std::string::npos && what.find("cut") == std::string::npos)
      out[what] += count;
  // Readers of events did not know these, and the simulation did.
  const auto less = [&](const char* what, uint64_t lowered) {
    const auto known = out.find(what);
    if (known == out.end()) return;
    known->second -= std::min(known->second, lowered);
    if (known->second == 0) out.erase(known);
  };
  less("receives whose message the trace does not tell", unknown_lowered_);
  less("starts of requests that the trace does not tell", starts_lowered_);
  return out;
}

Action& TraceActions::add(Batch& batch, ActionKind kind) {
  batch.actions.emplace_back();
  batch.actions.back().kind = kind;
  return batch.actions.back();
}

uint32_t TraceActions::channel(const events::ChannelKey& key) {
  if (const uint32_t* const known = channels_.find(key); known != nullptr) return *known;
  return channels_[key] = next_channel_++;
}

uint32_t TraceActions::new_slot(AgentState& agent) {
  if (agent.free.empty()) return agent.rank->slots++;
  const uint32_t slot = agent.free.back();
  agent.free.pop_back();
  return slot;
}

// Threads begin when MPI_Init has returned, and the recorder is through with what it did behind it.
void TraceActions::begin_behind(RankState& rank, const events::Event& init) {
  rank.has_begun = true;
  const uint64_t own_ns =
      has_times_ ? reader::OwnWorkAfter(trace_, rank.rank, init.thread)(init.seq) : 0;
  for (auto& [thread, gaps] : rank.gaps)
    if (thread != init.thread) gaps.busy_until(init.end_ns + own_ns);
}

// The next call of the agent's thread after the end of MPI_Init. Others' calls wait.
const events::Event* TraceActions::next_event(AgentState& agent) {
  RankState& rank = *agent.rank;
  std::deque<events::Event>& mine = rank.ahead[agent.thread];
  if (agent.is_first || !mine.empty()) {
    if (!agent.is_first) mine.pop_front();
    agent.is_first = false;
    if (!mine.empty()) return &mine.front();
  }
  while (true) {
    if (rank.skip_calls > 0) skip_here(rank);
    const events::Event* const event = rank.events->next();
    if (event == nullptr) return nullptr;
    if (!rank.has_begun) {
      const Op& op = *event->op;
      (void)rank.gaps[event->thread].before(*event);
      if (op.action == OpAction::kCollective && op.collective == events::CollectiveKind::kInit)
        begin_behind(rank, *event);
      continue;
    }
    if (event->thread == agent.thread && rank.ahead.size() == 1) return event;
    if (rank.has_order && is_after_finalize(rank, *event)) continue;
    rank.ahead[event->thread].push_back(*event);
    if (event->thread == agent.thread) return &mine.front();
  }
}

void TraceActions::fill(AgentId id, Batch& batch) {
  AgentState& agent = *agents_[id];
  while (batch.actions.size() < kBatch) {
    if (agent.running.what != nullptr) {
      run_collective(agent, batch);
      continue;
    }
    if (agent.is_background || agent.has_ended) return;
    const events::Event* const event = next_event(agent);
    if (event == nullptr) return lower_end(agent, batch);
    start_threads(agent, event->seq, batch);
    lower(agent, *event, batch);
  }
}

void TraceActions::ended(AgentId id) { agents_[id]->rank->idle.push_back(id); }

// What the thread did since its last call.
void TraceActions::compute(AgentState& agent, const events::Event& event, Batch& batch) {
  RankState& rank = *agent.rank;
  uint64_t ns = rank.gaps[event.thread].before(event).value_or(0);
  const bool is_first = !std::exchange(agent.has_called, true);
  if (has_gaps_) {
    const Durations gaps = trace_.gaps(event.call->id);
    ns = gaps.count == 0 || is_first
             ? 0
             : static_cast<uint64_t>(gaps.sum_ns / static_cast<double>(gaps.count) + 0.5);
  }
  if (times_ != nullptr && event.seq > 0)
    ns = times_->before(rank.rank, event.thread, event.seq, ns);
  if (factors_ != nullptr && !factors_->empty())
    ns = static_cast<uint64_t>(
        rounded(static_cast<double>(ns) * (*factors_)[static_cast<size_t>(rank.rank)]));
  if (follows_) ns = loop_gap(rank, event, ns);
  const bool polls = event.op->is_poll;
  const bool is_wait = agent.is_polling && ns <= kLongestPollPause;
  agent.is_polling = polls;
  if (ns > 0 && !is_wait) add(batch, ActionKind::kCompute).amount = ns;
}

void TraceActions::lower(AgentState& agent, const events::Event& event, Batch& batch) {
  const Op& op = *event.op;
  calls_.store(calls() + 1, std::memory_order_relaxed);
  if (neighbours_ != nullptr && op.topology != nullptr)
    agent.rank->topologies[op.topology->made] =
        neighbours_->made_by(agent.rank->rank, event.call->id);
  compute(agent, event, batch);
  if (op.action == OpAction::kCollective && op.collective == events::CollectiveKind::kFinalize) {
    await_others(agent, batch);
    add(batch, ActionKind::kEnter).tag = event.seq;
    add(batch, ActionKind::kLeave);
    add(batch, ActionKind::kMeasured);
    agent.has_ended = true;
    return;
  }
  Action& enter = add(batch, ActionKind::kEnter);
  enter.tag = event.seq;
  enter.is_marked = follows_ && agent.rank->rank == 0 && agent.rank->loop.begins(event.seq);
  if (!lower_steps(agent, event, batch)) return;  // a collective, which leaves in the end
  add(batch, ActionKind::kLeave);
}

// The slot of a request, from where it begins to where it is complete.
uint32_t TraceActions::slot_of(AgentState& agent, const events::Step& step) {
  RankState& rank = *agent.rank;
  if (const uint32_t* const known = rank.open.find(step.request); known != nullptr) return *known;
  if (const RankState::Early* const early = rank.early.find(step.request); early != nullptr)
    return early->slot;
  const uint32_t slot = new_slot(agent);
  rank.open[step.request] = slot;
  rank.by_maker[static_cast<uint32_t>(step.made_by->id)] = slot;
  if (rank.has_threads) posts_of(rank, slot).request = step.request;
  return slot;
}

void TraceActions::transfer(AgentState& agent, const events::Step& step, uint32_t slot,
                            Batch& batch) {
  const bool is_unknown = receives_unknown(*agent.rank, step);
  if (!step.has_message && !is_unknown) return;
  const bool sends = step.begins_send();
  Action action;
  action.kind = sends ? ActionKind::kSend : ActionKind::kReceive;
  action.channel = is_unknown ? kNoChannel : channel(step.channel);
  action.request = slot;
  if (!queues_.empty()) by_envelope(*agent.rank, step, action);
  if (sends) {
    action.peer = static_cast<uint32_t>(step.channel.dest);
    action.amount = step.bytes;
    action.is_synchronous = step.op->send.is_synchronous;
    if (step.op->send.is_buffered) action.request = kNoRequest;
    if (step.op->is_partitioned && step.kind == StepKind::kPostSend) {
      agent.rank->partitioned[step.made_by->id] = {action, step.op->partitions};
      return;
    }
  }
  batch.actions.push_back(action);
}

void TraceActions::wait_for(AgentState& agent, uint32_t slot, Batch& batch, bool is_free_then) {
  add(batch, ActionKind::kWait).request = slot;
  if (is_free_then) agent.free.push_back(slot);
}

// False: a collective follows.
bool TraceActions::lower_steps(AgentState& agent, const events::Event& event, Batch& batch) {
  const Op& op = *event.op;
  RankState& rank = *agent.rank;
  std::vector<uint32_t> waits;
  for (const events::Step& step : event.steps) {
    switch (step.kind) {
      case StepKind::kSend:
      case StepKind::kReceive: {
        if (!step.has_message && !receives_unknown(rank, step)) break;
        const uint32_t slot = new_slot(agent);
        transfer(agent, step, slot, batch);
        waits.push_back(slot);
        break;
      }
      case StepKind::kPostSend:
      case StepKind::kPostReceive: transfer(agent, step, slot_of(agent, step), batch); break;
      case StepKind::kPostCollective: begin_background(agent, step, batch); break;
      case StepKind::kSendDone:
      case StepKind::kReceiveDone:
      case StepKind::kCollectiveDone:
      case StepKind::kCancelled: lower_done(agent, step, batch, waits); break;
      case StepKind::kFreed: rank.open.erase(step.request); break;  // its slot is used up
      case StepKind::kTested: break;
    }
  }
  if (rank.has_threads) lower_posted(agent, event, batch);
  if (op.action == OpAction::kReady)
    for (const events::RequestUse& use : op.requests) {
      const auto known = rank.partitioned.find(use.request);
      if (known == rank.partitioned.end()) continue;
      known->second.left -= std::min(known->second.left, op.partitions);
      if (known->second.left > 0) continue;
      batch.actions.push_back(known->second.send);
      posted(agent, known->second.send.request, batch);
      rank.partitioned.erase(known);
    }
  lower_exchanges(agent, op, batch, waits);
  lower_waits(agent, event, batch, waits);
  if (op.action == OpAction::kOtherCollective &&
      op.collective == events::CollectiveKind::kNeighbours)
    return lower_neighbours(agent, event, batch);
  if (op.action == OpAction::kCollective && !op.makes_request)
    return begin_collective(agent, event, batch);
  if (op.action == OpAction::kWindowEpoch) return lower_window(agent, event, batch);
  if (lower_file(agent, event, batch) || lower_other(agent, event, batch)) return true;
  // A call that waits for nobody takes what it took.
  if (op.action == OpAction::kNothing && !op.is_poll && !has_gaps_) {
    uint64_t ns = event.end_ns - std::min(event.begin_ns, event.end_ns);
    if (follows_) ns = loop_own(rank, event, ns);
    if (ns > 0) add(batch, ActionKind::kCompute).amount = ns;
  }
  return true;
}

void TraceActions::lower_waits(AgentState& agent, const events::Event& event, Batch& batch,
                               std::vector<uint32_t>& waits) {
  if (waits.empty()) return;
  const Op& op = *event.op;
  const CallId plain = mpi::plain_call(op.call);
  const bool is_some = plain == mpi::kMPI_Waitany || plain == mpi::kMPI_Waitsome;
  const size_t wanted = waits.size();
  if (is_some) {
    events::argument(*event.call, "array_of_requests").for_each([&](const Value& request) {
      if (request.kind != ValueKind::kRequest) return;
      const uint32_t* const slot = agent.rank->by_maker.find(static_cast<uint32_t>(request.id));
      if (slot != nullptr && is_open_here(agent, *slot) &&
          std::find(waits.begin(), waits.end(), *slot) == waits.end())
        waits.push_back(*slot);
    });
  }
  if (waits.size() == 1) return wait_for(agent, waits[0], batch, true);
  Action& action = add(batch, is_some ? ActionKind::kWaitSome : ActionKind::kWaitAll);
  action.amount = wanted;
  action.first = static_cast<uint32_t>(batch.requests.size());
  action.count = static_cast<uint32_t>(waits.size());
  batch.requests.insert(batch.requests.end(), waits.begin(), waits.end());
  agent.free.insert(agent.free.end(), waits.begin(), waits.begin() + static_cast<int64_t>(wanted));
}

}  // namespace refrain::sim
