#include "events/open_ends.h"

#include <algorithm>

namespace refrain::events {

void OpenEnds::add(Rank rank, const Op& op, Decoder& ops) {
  const bool is_nobody = op.receive.peer == kNobody;
  if (!is_nobody &&
      (op.action == Action::kMatchedProbe || (op.receives() && !op.receive.is_known())))
    add_end(rank, op.receive);
  if (op.action != Action::kCancel) return;
  for (RequestUse use : op.requests) {
    const Op* const made_by = ops.maker(use);
    if (made_by != nullptr && made_by->receive.peer != kNobody) add_end(rank, made_by->receive);
  }
}

void OpenEnds::add_end(Rank rank, const MessageEnd& end) {
  std::vector<OpenEnd>& all = of_[static_cast<size_t>(rank)];
  const OpenEnd open = {end.comm, end.peer, end.tag, false};
  if (!all.empty() && all[0].is_any_comm) return;
  if (std::find(all.begin(), all.end(), open) != all.end()) return;
  all.push_back(open);
  if (all.size() > kMostOfRank) all = {{kNoComm, kAny, kAny, true}};
}

bool OpenEnds::is_counted(CommKey comm, Rank sender, Rank receiver, int64_t tag) const {
  if (is_whole(sender) || is_whole(receiver)) return false;
  const std::vector<OpenEnd>& open = of(receiver);
  return std::none_of(open.begin(), open.end(), [&](const OpenEnd& end) {
    return end.is_any_comm || (end.comm == comm && (end.source == kAny || end.source == sender) &&
                               (end.tag == kAny || end.tag == tag));
  });
}

bool OpenEnds::empty() const {
  return std::none_of(whole_.begin(), whole_.end(), [](uint8_t w) { return w != 0; }) &&
         std::all_of(of_.begin(), of_.end(), [](const auto& ends) { return ends.empty(); });
}

}  // namespace refrain::events
