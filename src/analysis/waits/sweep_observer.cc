// What the sweep tells its observer.

#include <algorithm>

#include "analysis/waits/sweep.h"

namespace refrain::analysis::waits {

SeenCall Sweep::seen(NodeId id) {
  const Node& node = log_.nodes.get(id);
  const LocationName& name = names_[node.location];
  return {name.rank, name.thread, node.seq, node.begin, node.end};
}

void Sweep::tell(const Message& message, bool again) {
  // A message of which one end is missing is counted as unmatched, and is no message to tell of.
  if (message.send_node == kNoNode || message.receive_node == kNoNode) return;
  const SeenMessage told = {message.comm, message.sender,    message.receiver,
                            message.tag,  message.waited_ns, again};
  if (!options_.observer->wants(told)) return;
  // Only of what is wanted: to look up three nodes may take three reads of the file.
  const SeenCall sent = seen(message.send_node), posted = seen(message.receive_node);
  options_.observer->ends(told, sent, posted,
                          message.done_node == kNoNode ? posted : seen(message.done_node));
}

// At the end of a call, which is known: what it completed.
void Sweep::tell_completed(const LocationState& l) {
  const Action action = l.current.op->action;
  if (action == Action::kProbe || action == Action::kMatchedProbe) return;
  const auto waited = [&](Message& message, uint64_t until) {
    const uint64_t to = std::min(until, l.end);
    if (to > l.begin) message.waited_ns = std::max(message.waited_ns, to - l.begin);
  };
  for (const MessageId id : received_) {
    Message& message = messages_.at(id);
    // Patience has ended, or another thread has completed it already.
    if (!message.is_sent || message.done_node != kNoNode) continue;
    waited(message, message.sent_ns);
    message.done_node = l.node;
    tell(message, false);
  }
  // A send may end after its message was received and told: then it is told again, with what the
  // sender waited.
  for (const MessageId id : sent_) {
    Message& message = messages_.at(id);
    waited(message, message.posted_ns);
    if (message.done_node != kNoNode) tell(message, true);
  }
}

// Where its call was recorded: repaired times are later by what was repaired before, and its end by
// what this call took over.
void Sweep::tell_wait(const LocationState& l, uint64_t from, uint64_t to) {
  if (options_.observer == nullptr) return;
  const LocationName& name = names_[static_cast<size_t>(&l - locations_.data())];
  const uint64_t shift = l.begin - l.current.begin_ns;
  const auto recorded = [&](uint64_t ns) { return std::min(ns - shift, l.current.end_ns); };
  options_.observer->wait(name.rank, name.thread, recorded(from), recorded(to));
}

// Messages that were received by the end, but by no call that says so.
void Sweep::tell_rest() {
  messages_.for_each([&](const Message& message) {
    if (message.is_sent && message.is_posted && message.done_node == kNoNode) tell(message, false);
  });
}

}  // namespace refrain::analysis::waits
