#include "analysis/waits/look_ahead.h"

#include <utility>

namespace refrain::analysis::waits {

bool LookAhead::next(StagedCall& out) {
  if (staged_.empty() && !read()) return false;
  while (staged_.front().open > 0 && staged_.size() < kMost && read()) {
  }
  out = std::move(staged_.front());
  staged_.pop_front();
  ++first_;
  return true;
}

void LookAhead::expect(StagedCall& staged, SignatureId request, const MessageEnd& end) {
  if (end.peer == kNobody || end.is_known()) return;
  ++staged.open;
  expected_[request] = first_ + staged_.size();
}

bool LookAhead::read() {
  StagedCall staged;
  if (!calls_->next(staged.call)) return false;
  const Signature& signature = *staged.call.signature;
  staged.op = &decoder_.op(signature);
  decoder_.follow_groups(signature);
  const Op& op = *staged.op;
  const bool receives = op.action == Action::kReceive || op.action == Action::kSendReceive;
  if (receives && op.makes_request && !op.is_persistent) expect(staged, signature.id, op.receive);
  if (op.action == Action::kStart)
    for (const RequestUse& use : op.requests) {
      const Op& made_by = decoder_.op_of(use.request);
      if (made_by.action == Action::kReceive) expect(staged, use.request, made_by.receive);
    }
  // Of a receive that was cancelled nothing is known: its status says nothing.
  if (op.action == Action::kComplete || op.action == Action::kFree || op.action == Action::kCancel)
    for (const RequestUse& use : op.requests) {
      const auto known = expected_.find(use.request);
      if (known == expected_.end()) continue;
      if (known->second >= first_ && known->second < first_ + staged_.size()) {
        StagedCall& poster = staged_[known->second - first_];
        --poster.open;
        if (use.has_message) poster.taken.push_back(use);
      }
      expected_.erase(known);
    }
  staged_.push_back(std::move(staged));
  return true;
}

}  // namespace refrain::analysis::waits
