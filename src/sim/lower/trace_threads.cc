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

}  // namespace refrain::sim
