#include "replay/plan/left_ends.h"

#include <algorithm>

#include "events/matching.h"
#include "refrain/calls.h"

namespace refrain::replay::plan {
namespace {

bool is_message(const events::Op& op) { return !op.is_persistent && !op.is_partitioned; }

bool has_send(const events::Op& op) { return op.sends() && op.send.peer >= 0; }

bool has_receive(const events::Op& op) {
  return op.receives() && op.receive.peer >= 0 && op.receive.is_known();
}

}  // namespace

LeftEnds::LeftEnds(const Trace& trace, const std::vector<CallId>& skipped,
                   events::CommTable& comms) {
  if (skipped.empty()) return;
  events::Decoder::Places places;
  for (GroupId group = 0; group < trace.group_count(); ++group) {
    std::vector<SignatureId> found;
    for (const Trace::Occurrence& seen : trace.occurrences(group))
      if (std::find(skipped.begin(), skipped.end(), trace.call_of(seen.signature)) != skipped.end())
        found.push_back(seen.signature);
    if (found.empty()) continue;
    for (uint64_t i = 0; i < trace.group_size(group); ++i) {
      const Rank rank = trace.group_rank(group, i);
      RankReader reader(trace, rank);
      events::Decoder decoder(reader, comms, places);
      for (const SignatureId id : found) {
        const events::Op& op = decoder.op(reader.signature(id));
        if (!is_message(op)) continue;
        if (has_send(op)) channels_.insert(events::channel_of_send(op.send, rank));
        if (has_receive(op)) channels_.insert(events::channel_of_receive(op.receive, rank));
      }
    }
  }
}

bool LeftEnds::has(const events::Op& op, Rank me) const {
  if (channels_.empty() || !is_message(op) || !(op.sends() || op.receives())) return false;
  const bool sends = has_send(op), receives = has_receive(op);
  if (sends && channels_.count(events::channel_of_send(op.send, me)) == 0) return false;
  if (receives && channels_.count(events::channel_of_receive(op.receive, me)) == 0) return false;
  return sends || receives;
}

}  // namespace refrain::replay::plan
