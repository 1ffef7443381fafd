// Windows, files, and collectives of other kinds.
#include <algorithm>

#include "events/payload.h"
#include "mpi/call_ids.h"
#include "mpi/call_meaning.h"
#include "sim/lower/trace_state.h"

namespace refrain::sim {

using events::argument;
using events::EpochCall;

using events::Op;
using events::OtherCall;
using OpAction = events::Action;

namespace {

// Tags of the messages that begin and end the epochs of a window.
constexpr int64_t kWindowTags = -(int64_t{1} << 40);
int64_t posted_tag(int64_t window) { return kWindowTags - 2 * window; }
int64_t done_tag(int64_t window) { return kWindowTags - 2 * window - 1; }

uint64_t accessed_bytes(const Trace& trace, const Signature& call) {
  const bool has_origin = call.find("origin_count") != nullptr;
  const Value* const count = call.find(has_origin ? "origin_count" : "count");
  const Value& type = argument(call, has_origin ? "origin_datatype" : "datatype");
  const uint64_t n = count == nullptr ? 1 : events::sum_of_counts(count->at_entry());
  return events::multiply(n, events::element_bytes(trace, type).value_or(0));
}

std::vector<Rank> targets(const Op& op) {
  if (!op.all_targets) return op.partners;
  std::vector<Rank> all;
  for (uint64_t i = 0; i < op.comm.comm.size(); ++i)
    all.push_back(op.comm.comm.member(static_cast<int64_t>(i)));
  return all;
}

}  // namespace

uint32_t TraceActions::window_slot(AgentState& agent, int64_t window) {
  const auto [known, is_new] = agent.rank->windows.try_emplace(window);
  if (is_new) known->second = agent.rank->slots++;
  return known->second;
}

bool TraceActions::lower_window(AgentState& agent, const events::Event& event, Batch& batch) {
  switch (event.op->epoch) {
    case EpochCall::kAccess: lower_access(agent, event, batch); break;
    case EpochCall::kLock:
    case EpochCall::kUnlock: lower_lock(agent, event, batch); break;
    case EpochCall::kPost:
    case EpochCall::kStart:
    case EpochCall::kComplete:
    case EpochCall::kWait: lower_epoch(agent, event, batch); break;
    case EpochCall::kNone: break;
  }
  return true;
}

void TraceActions::lower_access(AgentState& agent, const events::Event& event, Batch& batch) {
  const Op& op = *event.op;
  const uint32_t slot = window_slot(agent, op.window);
  const mpi::CallMeaning& meaning = mpi::meaning_of(op.call);
  if (!meaning.does_any(mpi::kDoesAccess)) return wait_for(agent, slot, batch, false);  // a flush
  if (op.partners.empty()) return;  // MPI_PROC_NULL
  const CallId plain = meaning.plain;
  const bool gets = plain == mpi::kMPI_Get || plain == mpi::kMPI_Get_accumulate ||
                    plain == mpi::kMPI_Fetch_and_op || plain == mpi::kMPI_Compare_and_swap;
  Action& action = add(batch, gets ? ActionKind::kGet : ActionKind::kPut);
  action.peer = static_cast<uint32_t>(op.partners[0]);
  action.amount = accessed_bytes(trace_, *event.call);
  action.request = slot;
}

void TraceActions::lower_lock(AgentState& agent, const events::Event& event, Batch& batch) {
  const Op& op = *event.op;
  const bool locks = op.epoch == EpochCall::kLock;
  uint32_t slot = window_slot(agent, op.window);
  if (!locks) wait_for(agent, slot, batch, false);
  if (locks) slot = new_slot(agent);
  for (const Rank target : targets(op)) {
    if (target < 0) continue;
    Action& action = add(batch, locks ? ActionKind::kLock : ActionKind::kUnlock);
    action.peer = static_cast<uint32_t>(target);
    action.tag = (uint64_t{op.comm.key} << 16 ^ static_cast<uint64_t>(op.window)) << 32 |
                 static_cast<uint32_t>(target);
    action.request = slot;
    action.is_exclusive = op.is_exclusive;
  }
  if (locks) wait_for(agent, slot, batch, true);
}

// Post and complete send messages of no bytes, start and wait receive them.
void TraceActions::lower_epoch(AgentState& agent, const events::Event& event, Batch& batch) {
  const Op& op = *event.op;
  RankState& rank = *agent.rank;
  const bool is_first = op.epoch == EpochCall::kPost || op.epoch == EpochCall::kStart;
  const bool sends = op.epoch == EpochCall::kPost || op.epoch == EpochCall::kComplete;
  const bool of_target = op.epoch == EpochCall::kPost || op.epoch == EpochCall::kWait;
  std::vector<Rank>& group = (of_target ? rank.posted : rank.started)[op.window];
  if (is_first) group = rank.events->decoder().group(op.message_object);
  if (is_first && group.empty()) count(*event.call);
  if (op.epoch == EpochCall::kComplete)
    wait_for(agent, window_slot(agent, op.window), batch, false);
  const int64_t tag = is_first ? posted_tag(op.window) : done_tag(op.window);
  const uint32_t slot = new_slot(agent);
  for (const Rank peer : group) {
    if (peer < 0) continue;
    Action& action = add(batch, sends ? ActionKind::kSend : ActionKind::kReceive);
    action.peer = static_cast<uint32_t>(peer);
    action.request = slot;
    action.channel = sends ? channel({op.comm.key, rank.rank, peer, tag})
                           : channel({op.comm.key, peer, rank.rank, tag});
  }
  wait_for(agent, slot, batch, true);
}

// False: it is of no file.
bool TraceActions::lower_file(AgentState& agent, const events::Event& event, Batch& batch) {
  const Op& op = *event.op;
  const mpi::CallInfo* const info = mpi::find_call(op.call);
  if (info == nullptr || info->group != mpi::CallGroup::kIo) return false;
  const Signature& call = *event.call;
  const Value& file = argument(call, "fh");
  const bool accesses = info->traffic == mpi::Traffic::kIo && !call.failed();
  if (accesses) {
    const uint32_t slot = new_slot(agent);
    Action& action = add(batch, ActionKind::kAccess);
    action.peer = file.is_object() ? static_cast<uint32_t>(file.number & 0xffffff) : 0;
    action.amount = accessed_bytes(trace_, call);
    action.request = slot;
    wait_for(agent, slot, batch, true);
  }
  if (op.other == OtherCall::kOpen)
    add(batch, ActionKind::kSpend).amount = static_cast<uint64_t>(rounded(machine_.files.open_ns));
  const bool begins = op.other == OtherCall::kSplitBegin || op.other == OtherCall::kOrderedBegin;
  if (op.action == OpAction::kOtherCollective && !begins && !op.makes_request)
    meet(*agent.rank, op, 0, batch);
  return true;
}

// Communicators of groups, which leave together; others have no rule.
bool TraceActions::lower_other(AgentState& agent, const events::Event& event, Batch& batch) {
  const Op& op = *event.op;
  if (op.action != OpAction::kOtherCollective) return false;
  if (op.other == OtherCall::kOfComm && op.collective == events::CollectiveKind::kNxN) {
    begin_duplication(agent, event, batch);
    return true;
  }
  if (op.other != OtherCall::kOfMade || op.makes_request) {
    count(*event.call);
    return true;
  }
  CollectiveCall call;
  call.what = Collective::kAllgather;
  call.bytes = 8;
  call.ranks = static_cast<int64_t>(op.comm.all_ranks);
  const double ns = analytic_ns(call, hockney_costs(machine_, call.bytes));
  meet(*agent.rank, op, static_cast<uint64_t>(rounded(ns)), batch);
  return true;
}

}  // namespace refrain::sim
