#include "events/matching.h"

namespace refrain::events {

MessageEnd posted_receive(const Op& op, const StagedCall& call, CommTable& comms, Rank me) {
  MessageEnd end = op.receive;
  if (end.peer == kNobody || end.is_known()) return end;
  for (const RequestUse& use : call.taken) {
    if (use.request != op.signature->id) continue;
    const Value* comm = op.signature->find("comm");
    const DefinitionId id = comm != nullptr ? comm->definition() : kNoDefinition;
    const Rank peer = comms.view(id, me).comm.peer(use.source);
    end.peer = peer < 0 ? kNobody : peer;
    end.tag = use.tag;
  }
  return end;
}

uint64_t ChannelQueues::count(bool sends) const {
  uint64_t n = 0;
  queues_.for_each([&](const ChannelKey&, const Queue& queue) {
    if (queue.are_sends == sends) n += queue.count;
  });
  return n;
}

}  // namespace refrain::events
