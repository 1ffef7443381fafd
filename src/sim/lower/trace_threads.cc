// Requests that one thread begins and another one waits for.
//
// Threads are read one by one, each far ahead, and in the simulation they do not keep the order
// that they had. So a thread that waits for the request of another one waits first until that has
// begun it; and where the waiting thread is read first, the request gets a slot that nobody has
// used, as the thread that begins it does so at any time.
#include <algorithm>

#include "sim/lower/trace_state.h"

namespace refrain::sim {

using events::StepKind;

void TraceActions::posted(const AgentState& agent, uint32_t slot, Batch& batch) {
  RankState& rank = *agent.rank;
  if (!rank.has_threads || slot == kNoRequest) return;
  if (slot >= rank.posts.size()) rank.posts.resize(std::max<size_t>(slot + 1, rank.slots));
  RankState::Posts& posts = rank.posts[slot];
  posts.thread = agent.thread;
  Action& action = add(batch, ActionKind::kPosted);
  action.request = slot;
  action.tag = ++posts.uses;
}

void TraceActions::await_post(const AgentState& agent, uint32_t slot, bool is_early, Batch& batch) {
  const RankState& rank = *agent.rank;
  if (!rank.has_threads) return;
  const auto posts = slot < rank.posts.size() ? rank.posts[slot] : RankState::Posts();
  const uint64_t use = posts.uses + (is_early ? 1 : 0);
  if (use == 0 || (!is_early && posts.thread == agent.thread)) return;
  Action& action = add(batch, ActionKind::kAwait);
  action.request = slot;
  action.tag = use;
}

void TraceActions::lower_done(AgentState& agent, const events::Step& step, Batch& batch,
                              std::vector<uint32_t>& waits) {
  RankState& rank = *agent.rank;
  if (const uint32_t* const known = rank.open.find(step.request); known != nullptr) {
    const uint32_t slot = *known;
    rank.open.erase(step.request);
    rank.last_done = step.request;
    await_post(agent, slot, false, batch);
    waits.push_back(slot);
    return;
  }
  // A call that sends and receives has two ends, and one slot.
  if (!rank.has_threads || step.request == rank.last_done) return;
  rank.last_done = step.request;
  const uint32_t slot = rank.slots++;
  rank.early[step.request] = slot;
  await_post(agent, slot, true, batch);
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
    const uint32_t* const early = rank.early.find(step.request);
    const uint32_t* const slot = early != nullptr ? early : rank.open.find(step.request);
    if (slot != nullptr) posted(agent, *slot, batch);
    if (early != nullptr) rank.early.erase(step.request);
  }
}

}  // namespace refrain::sim
