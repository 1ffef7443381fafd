#include "events/look_ahead.h"

#include <utility>

namespace refrain::events {

bool LookAhead::next(StagedCall& out) {
  if (staged_.empty()) {
    if (fetched_at_ >= fetched_count_ && !fetch()) return false;
    const Fetched& next = fetched_[fetched_at_];
    if (next.is_plain && expected_.empty()) {  // nothing of its op is needed here
      ++fetched_at_;
      ++first_;
      take(next, out);
      return true;
    }
    (void)read(out);
    if (out.open == 0) {
      ++first_;
      if (out.op->makes_group) decoder_.follow_groups(*out.op->signature);
      return true;
    }
    staged_.push_back(std::move(out));
  }
  while (staged_.front().open > 0 && staged_.size() < kMost) {
    StagedCall more;
    if (!read(more)) {
      if (calls_ != nullptr) return false;  // what completes it may still come
      break;
    }
    staged_.push_back(std::move(more));
  }
  out = std::move(staged_.front());
  staged_.pop_front();
  ++first_;
  if (out.op->makes_group) decoder_.follow_groups(*out.op->signature);
  return true;
}

bool LookAhead::skip_to(uint64_t seq) {
  if (!staged_.empty() || !expected_.empty() || calls_ == nullptr || !calls_->skip_to(seq))
    return false;
  fetched_at_ = fetched_count_ = 0;
  first_ = seq;
  return true;
}

void LookAhead::take(const Fetched& fetched, StagedCall& out) {
  out.seq = fetched.seq;
  out.begin_ns = fetched.begin_ns;
  out.end_ns = fetched.end_ns;
  out.op = fetched.op;
  out.open = 0;
  out.taken.clear();
}

bool LookAhead::is_plain(const Op& op) {
  const bool is_open = op.receives() && op.makes_request && !op.is_persistent &&
                       op.receive.peer != kNobody && !op.receive.is_known();
  return !is_open && op.action != Action::kStart && !op.makes_group;
}

bool LookAhead::fetch() {
  fetched_at_ = fetched_count_ = 0;
  ClockedCall call;
  while (calls_ != nullptr && fetched_count_ < kBatch) {
    if (calls_->next(call)) {
      Op& op = decoder_.op(*call.signature);
      Fetched& fetched = fetched_[fetched_count_++];
      fetched.seq = call.seq;
      fetched.is_plain = is_plain(op);
      fetched.begin_ns = call.begin_ns;
      fetched.end_ns = call.end_ns;
      fetched.op = &op;
    } else if (calls_->has_ended()) {
      calls_.reset();
    } else {
      break;  // more will come
    }
  }
  return fetched_count_ > 0;
}

// `staged` is the call after all that are staged.
void LookAhead::expect(StagedCall& staged, RequestUse& use, const MessageEnd& end) {
  if (end.peer == kNobody || end.is_known()) return;
  ++staged.open;
  expected_[use.request] = first_ + staged_.size();
}

// What a call completes or gives up is known to the call that posted it.
void LookAhead::resolve(const RequestUse& use) {
  const auto known = expected_.find(use.request);
  if (known == expected_.end()) return;
  if (known->second >= first_ && known->second < first_ + staged_.size()) {
    StagedCall& poster = staged_[known->second - first_];
    --poster.open;
    if (use.has_message) poster.taken.push_back(use);
  }
  expected_.erase(known);
}

bool LookAhead::read(StagedCall& out) {
  if (fetched_at_ >= fetched_count_ && !fetch()) return false;
  const Fetched& fetched = fetched_[fetched_at_++];
  take(fetched, out);
  Op& op = *fetched.op;
  if (op.receives() && op.makes_request && !op.is_persistent) {
    RequestUse use;
    use.request = op.signature->id;
    expect(out, use, op.receive);
  }
  if (op.action == Action::kStart)
    for (RequestUse& use : op.requests) {
      const Op* made_by = decoder_.maker(use);
      if (made_by != nullptr && made_by->action == Action::kReceive)
        expect(out, use, made_by->receive);
    }
  // Of a receive that was cancelled nothing is known: its status says nothing.
  if (!expected_.empty() && (op.action == Action::kComplete || op.action == Action::kFree ||
                             op.action == Action::kCancel))
    for (const RequestUse& use : op.requests) resolve(use);
  return true;
}

}  // namespace refrain::events
