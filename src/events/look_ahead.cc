#include "events/look_ahead.h"

#include <algorithm>
#include <utility>

namespace refrain::events {

bool LookAhead::next(StagedCall& out) {
  if (light_first_ > 0) {
    --light_first_;
    --light_count_;
    ++first_;
    Fetched light;
    LightCalls::Times times;
    room_.used_bytes -= light_.bytes();
    light.op = light_.pop(times, out_end_ns_);
    room_.used_bytes += light_.bytes();
    light.seq = ++out_seq_;
    light.begin_ns = times.begin_ns;
    light.end_ns = out_end_ns_ = times.end_ns;
    take(light, out);
    return true;
  }
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
    in_seq_ = out.seq;
    in_end_ns_ = out.end_ns;
    staged_.push_back({std::move(out), first_, 0});
  }
  while (staged_.front().call.open > 0 && has_room()) {
    if (stage_next()) continue;
    if (calls_ != nullptr) return false;  // what completes it may still come
    break;
  }
  give(out);
  return true;
}

// One more call behind those that are staged. False: there is none.
bool LookAhead::stage_next() {
  if (fetched_at_ >= fetched_count_ && !fetch()) return false;
  const Fetched& next = fetched_[fetched_at_];
  if (next.is_light && next.seq == in_seq_ + 1) {
    ++fetched_at_;
    push_light(next);
  } else {
    StagedCall more;
    const uint64_t number = first_ + queued();
    (void)read(more);
    staged_.push_back({std::move(more), number, 0});
  }
  in_seq_ = next.seq;
  in_end_ns_ = next.end_ns;
  return true;
}

void LookAhead::push_light(const Fetched& call) {
  room_.used_bytes -= light_.bytes();
  light_.push(*call.op, {call.begin_ns, call.end_ns}, in_end_ns_);
  room_.used_bytes += light_.bytes();
  ++light_count_;
  ++staged_.back().light_behind;
}

// The front of those that are staged.
void LookAhead::give(StagedCall& out) {
  out = std::move(staged_.front().call);
  light_first_ = staged_.front().light_behind;
  staged_.pop_front();
  ++first_;
  out_seq_ = out.seq;
  out_end_ns_ = out.end_ns;
  if (out.op->makes_group) decoder_.follow_groups(*out.op->signature);
}

bool LookAhead::skip_to(uint64_t seq) {
  if (queued() > 0 || !expected_.empty() || calls_ == nullptr || !calls_->skip_to(seq))
    return false;
  fetched_at_ = fetched_count_ = 0;
  first_ = seq;
  return true;
}

namespace {

// Completes requests, or gives them up.
bool completes(const Op& op) {
  if (op.requests.empty()) return false;  // an unsuccessful test
  return op.action == Action::kComplete || op.action == Action::kFree ||
         op.action == Action::kCancel;
}

}  // namespace

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
      fetched.is_light = fetched.is_plain && !completes(op);
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
  expected_[use.request] = first_ + queued();
}

// What a call completes or gives up is known to the call that posted it.
void LookAhead::resolve(const RequestUse& use) {
  const auto known = expected_.find(use.request);
  if (known == expected_.end()) return;
  const auto at = std::lower_bound(
      staged_.begin(), staged_.end(), known->second,
      [](const Staged& staged, uint64_t number) { return staged.number < number; });
  if (at != staged_.end() && at->number == known->second) {
    --at->call.open;
    if (use.has_message) at->call.taken.push_back(use);
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
  if (!expected_.empty() && completes(op))
    for (const RequestUse& use : op.requests) resolve(use);
  return true;
}

}  // namespace refrain::events
