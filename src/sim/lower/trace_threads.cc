// Threads of a rank: where they begin and end, and requests that one begins and another one waits
// for.
//
// What a thread waits for outside of MPI is not in a trace. But it cannot have been started later
// than it called MPI, most threads are started between two calls of the first one, and MPI_Finalize
// is called when all others are through. So, where the trace has exact times, a thread begins
// behind the last call of the first thread that had returned when it first called MPI; and
// MPI_Finalize is behind the last calls of all threads.
//
// Threads are read one by one, each far ahead, and in the simulation they do not keep the order
// that they had. So a thread that waits for the request of another one waits first until that has
// begun it; and where the waiting thread is read first, the request gets a slot that nobody has
// used, as the thread that begins it does so at any time.
#include <algorithm>

#include "mpi/call_ids.h"
#include "sim/lower/trace_state.h"

namespace refrain::sim {

using events::StepKind;

TraceActions::Posts& TraceActions::posts_of(RankState& rank, uint32_t slot) {
  if (slot >= rank.posts.size()) rank.posts.resize(std::max<size_t>(slot + 1, rank.slots));
  return rank.posts[slot];
}

void TraceActions::posted(uint32_t slot, uint64_t use, Batch& batch) {
  Action& action = add(batch, ActionKind::kPosted);
  action.request = slot;
  action.tag = use;
}

void TraceActions::posted(const AgentState& agent, uint32_t slot, Batch& batch) {
  if (!agent.rank->has_threads || slot == kNoRequest) return;
  Posts& posts = posts_of(*agent.rank, slot);
  posts.thread = agent.thread;
  posted(slot, ++posts.uses, batch);
}

void TraceActions::await_post(uint32_t slot, uint64_t use, Batch& batch) {
  Action& action = add(batch, ActionKind::kAwait);
  action.request = slot;
  action.tag = use;
}

// Whether the slot is that of a request that the agent's thread has begun, and nobody waited for.
bool TraceActions::is_open_here(AgentState& agent, uint32_t slot) {
  RankState& rank = *agent.rank;
  if (!rank.has_threads) return true;
  const Posts& posts = posts_of(rank, slot);
  const uint32_t* const open = rank.open.find(posts.request);
  return posts.thread == agent.thread && open != nullptr && *open == slot;
}

void TraceActions::lower_done(AgentState& agent, const events::Step& step, Batch& batch,
                              std::vector<uint32_t>& waits) {
  RankState& rank = *agent.rank;
  if (const uint32_t* const known = rank.open.find(step.request); known != nullptr) {
    const uint32_t slot = *known;
    rank.open.erase(step.request);
    waits.push_back(slot);
    if (!rank.has_threads) return;
    rank.last_done = step.request;
    const Posts& posts = posts_of(rank, slot);
    if (posts.uses > 0 && posts.thread != agent.thread) await_post(slot, posts.uses, batch);
    return;
  }
  // A call that sends and receives has two ends, and one slot.
  if (!rank.has_threads || step.request == rank.last_done) return;
  rank.last_done = step.request;
  const uint32_t slot = rank.slots++;
  const uint64_t use = ++posts_of(rank, slot).uses;
  rank.early[step.request] = {slot, use};
  await_post(slot, use, batch);
  waits.push_back(slot);
}

// What the call has begun is there from now on. Partitioned sends are when all parts are ready.
void TraceActions::lower_posted(const AgentState& agent, const events::Event& event, Batch& batch) {
  RankState& rank = *agent.rank;
  for (size_t i = 0; i < event.steps.size(); ++i) {
    const events::Step& step = event.steps[i];
    const bool begins = step.kind == StepKind::kPostSend || step.kind == StepKind::kPostReceive ||
                        step.kind == StepKind::kPostCollective;
    const bool goes_on = i + 1 < event.steps.size() && event.steps[i + 1].request == step.request;
    if (!begins || goes_on) continue;
    if (step.op->is_partitioned && step.kind == StepKind::kPostSend && step.has_message) continue;
    if (const RankState::Early* const early = rank.early.find(step.request); early != nullptr) {
      posted(early->slot, early->use, batch);
      rank.early.erase(step.request);
    } else if (const uint32_t* const slot = rank.open.find(step.request); slot != nullptr) {
      posted(agent, *slot, batch);
    }
  }
}

// The agents from `first_agent` on are the threads of the rank.
void TraceActions::find_starts(RankState& rank, size_t first_agent) {
  for (size_t i = first_agent; i < agents_.size(); ++i) {
    rank.agents.push_back(agents_[i].get());
    agents_[i]->end = rank.slots++;
  }
  const auto timing = trace_.timing();
  if (!has_times_ || !timing.ok() || timing->kind != TimingKind::kExact) return;
  rank.has_order = true;
  RankReader reader(trace_, rank.rank, Times::kRead);
  auto first = reader.cursor(rank.agents.front()->thread);
  if (!first.ok()) return;
  uint64_t init = 0,
           init_end = 0;  // how many calls there are until MPI_Init has returned, and when
  while (!rank.has_begun) {
    const Call* const call = first->next();
    if (call == nullptr || !call->has_time) return;
    const CallId id = trace_.call_of(call->signature->id);
    if (id != mpi::kMPI_Init && id != mpi::kMPI_Init_thread) continue;
    init = call->seq + 1;
    init_end = call->end_ns;
    break;
  }
  for (size_t i = 1; i < rank.agents.size(); ++i) {
    AgentState& agent = *rank.agents[i];
    auto cursor = reader.cursor(agent.thread);
    if (!cursor.ok() || !cursor->seek_time(init_end)) continue;
    const Call* call = cursor->next();
    if (call == nullptr || !call->has_time || !first->seek_time(call->begin_ns)) continue;
    const uint64_t begin_ns = call->begin_ns;
    call = first->next();
    if (call == nullptr || call->seq <= init) continue;
    // What the recorder does behind a call is before the program goes on.
    uint64_t last = call->seq;
    reader::OwnWorkAfter own(trace_, rank.rank, rank.agents.front()->thread);
    first->seek(last - 1);
    call = first->next();
    if (call != nullptr && call->end_ns + own(call->seq) > begin_ns) --last;
    if (last <= init) continue;
    first->seek(last - 1);
    call = first->next();
    if (call == nullptr || trace_.call_of(call->signature->id) == mpi::kMPI_Finalize) continue;
    agent.start = rank.slots++;
    rank.gaps[agent.thread].busy_until(
        call->end_ns + reader::OwnWorkAfter(trace_, rank.rank, call->thread)(call->seq));
    rank.starts.emplace(call->seq, agent.start);
  }
}

// What the first thread starts before call number `before`; and an agent that was started waits for
// that.
void TraceActions::start_threads(AgentState& agent, uint64_t before, Batch& batch) {
  RankState& rank = *agent.rank;
  if (!rank.has_threads) return;
  if (agent.start != kNoRequest && !agent.has_called) await_post(agent.start, 1, batch);
  if (&agent != rank.agents.front()) return;
  while (!rank.starts.empty() && rank.starts.begin()->first < before) {
    posted(rank.starts.begin()->second, 1, batch);
    rank.starts.erase(rank.starts.begin());
  }
}

// Asked for each call of the rank, as they are read.
bool TraceActions::is_after_finalize(RankState& rank, const events::Event& event) {
  if (rank.is_over) return true;
  rank.is_over = event.op->action == events::Action::kCollective &&
                 event.op->collective == events::CollectiveKind::kFinalize;
  return false;
}

void TraceActions::lower_end(AgentState& agent, Batch& batch) {
  agent.has_ended = true;
  if (!agent.rank->has_threads) return;
  start_threads(agent, UINT64_MAX, batch);
  posted(agent.end, 1, batch);
}

void TraceActions::await_others(const AgentState& agent, Batch& batch) {
  if (!agent.rank->has_threads) return;
  for (const AgentState* const other : agent.rank->agents)
    if (other != &agent) await_post(other->end, 1, batch);
}

}  // namespace refrain::sim
