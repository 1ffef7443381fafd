// Receives that take what comes first, for simulations that do not match as recorded.
//
// Only messages to a rank that has such receives, on their communicator, are matched by their
// envelopes; all others meet on channels, which is the same and needs no search.
#include "events/payload.h"
#include "mpi/call_meaning.h"
#include "sim/lower/trace_state.h"

namespace refrain::sim {

using events::argument;

TraceActions::Wildcards TraceActions::wildcards_of(const Signature& call) {
  const auto [known, is_new] = wildcards_.try_emplace(call.id);
  if (is_new) {
    const bool has_two = call.find("recvtag") != nullptr;
    known->second = {argument(call, "source").name() == "MPI_ANY_SOURCE",
                     argument(call, has_two ? "recvtag" : "tag").name() == "MPI_ANY_TAG"};
  }
  return known->second;
}

// Known before the rank is simulated, as others send to it before it posts such a receive.
void TraceActions::find_wildcards(RankState& rank) {
  const auto group = trace_.group_of(rank.rank);
  if (!group) return;
  for (const Trace::Occurrence& seen : trace_.occurrences(*group)) {
    const mpi::CallMeaning& meaning = mpi::meaning_of(trace_.call_of(seen.signature));
    if (!meaning.does_any(mpi::kDoesReceive)) continue;
    const Signature& call = rank.events->reader().signature(seen.signature);
    const Wildcards any = wildcards_of(call);
    if (!any.source && !any.tag) continue;
    const events::Op& op = rank.events->decoder().op(call);
    if (op.receives() && op.receive.peer != events::kNobody)
      queues_.try_emplace({op.receive.comm, rank.rank}, static_cast<uint32_t>(queues_.size()));
  }
}

const uint32_t* TraceActions::queue_of(events::CommKey comm, Rank dest) const {
  const auto known = queues_.find({comm, dest});
  return known == queues_.end() ? nullptr : &known->second;
}

// A receive with a wildcard of which the trace does not say what it took.
bool TraceActions::receives_unknown(const RankState& rank, const events::Step& step) {
  if (queues_.empty() || step.has_message || step.is_cancelled || !step.begins_receive())
    return false;
  const events::MessageEnd& end = step.op->receive;
  if (end.peer == events::kNobody || queue_of(end.comm, rank.rank) == nullptr) return false;
  const Wildcards any = wildcards_of(*step.made_by);
  return any.source || any.tag;
}

void TraceActions::by_envelope(const RankState& rank, const events::Step& step, Action& action) {
  const bool sends = step.begins_send();
  const events::MessageEnd& end = step.op->receive;
  const events::ChannelKey key =
      step.has_message ? step.channel : events::ChannelKey{end.comm, end.peer, rank.rank, end.tag};
  const uint32_t* const queue = queue_of(key.comm, key.dest);
  if (queue == nullptr) return;
  action.is_matched_here = true;
  action.first = *queue;
  action.tag = static_cast<uint64_t>(key.tag);
  if (sends) return;
  const Wildcards any = wildcards_of(*step.made_by);
  action.peer = any.source ? kAnySender : static_cast<uint32_t>(key.source);
  action.takes_any_tag = any.tag;
  unknown_lowered_ += step.has_message ? 0 : 1;
}

}  // namespace refrain::sim
