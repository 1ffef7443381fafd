#include "analysis/open_ends.h"

#include <algorithm>

namespace refrain::analysis {

using waits::Action;

void OpenEnds::add(Rank rank, const waits::Op& op, waits::Decoder& ops) {
  const bool receives = op.action == Action::kReceive || op.action == Action::kSendReceive;
  const bool is_nobody = op.receive.peer == waits::kNobody;
  if (!is_nobody && (op.action == Action::kMatchedProbe || (receives && !op.receive.is_known())))
    add_end(rank, op.receive);
  if (op.action != Action::kCancel) return;
  for (waits::RequestUse use : op.requests) {
    const waits::Op* const made_by = ops.maker(use);
    if (made_by != nullptr && made_by->receive.peer != waits::kNobody)
      add_end(rank, made_by->receive);
  }
}

void OpenEnds::add_end(Rank rank, const waits::MessageEnd& end) {
  std::vector<OpenEnd>& all = of_[static_cast<size_t>(rank)];
  const OpenEnd open = {end.comm, end.peer, end.tag, false};
  if (!all.empty() && all[0].is_any_comm) return;
  if (std::find(all.begin(), all.end(), open) != all.end()) return;
  all.push_back(open);
  if (all.size() > kMostOfRank) all = {{waits::kNoComm, waits::kAny, waits::kAny, true}};
}

bool OpenEnds::is_counted(waits::CommKey comm, Rank sender, Rank receiver, int64_t tag) const {
  if (is_whole(sender) || is_whole(receiver)) return false;
  const std::vector<OpenEnd>& open = of(receiver);
  return std::none_of(open.begin(), open.end(), [&](const OpenEnd& end) {
    return end.is_any_comm ||
           (end.comm == comm && (end.source == waits::kAny || end.source == sender) &&
            (end.tag == waits::kAny || end.tag == tag));
  });
}

bool OpenEnds::empty() const {
  return std::none_of(whole_.begin(), whole_.end(), [](uint8_t w) { return w != 0; }) &&
         std::all_of(of_.begin(), of_.end(), [](const auto& ends) { return ends.empty(); });
}

}  // namespace refrain::analysis
