#include "events/by_rank/survey.h"

#include <algorithm>

namespace refrain::events {

// Conversions may be of some ranks. A collective is whole if all of its members are among them.
uint64_t chosen_members(const Scope& scope, const Communicator& comm) {
  uint64_t count = 0;
  for (uint64_t i = 0; i < comm.size(); ++i)
    count += scope.position(comm.member(static_cast<int64_t>(i))) >= 0 ? 1 : 0;
  for (uint64_t i = 0; i < comm.remote_size(); ++i)
    count += scope.position(comm.remote_member(static_cast<int64_t>(i))) >= 0 ? 1 : 0;
  return count;
}

Status Survey::run() {
  // In memory where it fits, which is most traces; from the beginning on the disk where it does
  // not. The size of the trace does not tell in advance: it is compressed.
  if (walk()) return base::Done{};
  return run_outside(MessageEnds::Wanted::kAll);
}

Status Survey::run_outside(MessageEnds::Wanted wanted) {
  channels_ = {};
  tags_ = {};
  collectives_.clear();
  // What the first try held would count against the bound, as the allocator keeps it.
  give_back_memory();
  scope_.begin_again();
  ends_ = std::make_unique<MessageEnds>(scope_.folder(), scope_.sort_bytes(), wanted);
  world_.ends = ends_.get();
  return walk() ? ends_->join() : ends_->status();
}

bool Survey::walk() {
  for (const Rank rank : scope_.ranks) {
    // Rank by rank: what is open on one of them is forgotten before the next one is read.
    RankEvents events(scope_, world_, rank);
    std::unordered_map<CommKey, Range> collectives;
    while (const Event* event = events.next()) {
      if (!ends_)
        for (const Step& step : event->steps) add(step, event->in_window);
      // With every event, as a single rank may have millions of channels.
      if (ends_ ? !ends_->status().ok() : !fits(events)) return false;
      if (event->collective.is_there && event->in_window)
        for (const Step& step : event->steps)
          if (step.kind == StepKind::kPostCollective)
            collectives[step.op->comm.key].add(step.collective);
      if (event->collective.is_there && event->in_window &&
          event->op->action == Action::kCollective && !event->op->makes_request)
        collectives[event->op->comm.key].add(event->collective.number);
    }
    // Whole are the numbers that all members have in the window: the range from the latest first to
    // the earliest last.
    for (const auto& [comm, range] : collectives) {
      Collectives& all = collectives_[comm];
      all.first = std::max(all.first, range.first);
      all.end = std::min(all.end, range.end);
      ++all.ranks;
    }
  }
  return true;
}

bool Survey::fits(const RankEvents& events) const {
  return channels_.size() * kChannelBytes + sizes_ * kSizeBytes + tags_.size() * kTagBytes +
             events.channels() * RankEvents::kChannelBytes <=
         scope_.memory_bytes() / 2;
}

void Survey::add(const Step& step, bool in_window) {
  if (!step.has_message) return;
  // Ends count where they begin, as it is then that they get their numbers.
  const bool sends = step.begins_send();
  const bool receives = step.begins_receive();
  if (!sends && !receives) return;
  const auto [known, is_new] = channels_.try_emplace(step.channel);
  if (is_new) tags_.emplace(step.channel.comm, step.channel.tag);
  Channel& channel = known->second;
  if (in_window) (sends ? channel.sent : channel.received).add(step.number);
  if (!sends || !step.is_sized) return;
  // Only changes: most channels have messages of one size.
  if (!channel.sizes.empty() && channel.sizes.back().bytes == step.bytes) return;
  ++sizes_;
  channel.sizes.push_back({step.number, step.bytes});
}

bool Survey::is_whole(const Step& step) const {
  if (!step.has_message) return false;
  if (ends_) return step.answer.is_whole;
  const auto known = channels_.find(step.channel);
  // Ranges do: what lies in the window of a rank is consecutive.
  return known != channels_.end() && known->second.sent.has(step.number) &&
         known->second.received.has(step.number);
}

std::optional<uint64_t> Survey::bytes(const Step& step) const {
  if (!step.has_message) return std::nullopt;
  if (ends_) return step.answer.sent_bytes;
  const auto known = channels_.find(step.channel);
  if (known == channels_.end()) return std::nullopt;
  const std::vector<Size>& sizes = known->second.sizes;
  // The last change at or before the message.
  auto after = std::upper_bound(sizes.begin(), sizes.end(), step.number,
                                [](uint64_t n, const Size& size) { return n < size.first; });
  if (after == sizes.begin()) return std::nullopt;
  return (--after)->bytes;
}

bool Survey::is_whole(const Op& op, uint64_t number) {
  const auto known = collectives_.find(op.comm.key);
  if (known == collectives_.end()) return false;
  const Collectives& all = known->second;
  // A member that never calls a collective there in the window has no range at all, so members are
  // counted as well.
  return number >= all.first && number < all.end && all.ranks == members(op);
}

uint64_t Survey::members(const Op& op) {
  const auto [known, is_new] = members_.try_emplace(op.comm.key, 0);
  if (is_new) known->second = chosen_members(scope_, op.comm.comm);
  return known->second;
}

bool Survey::has_all_members(const Op& op) {
  return members(op) == op.comm.comm.size() + op.comm.comm.remote_size();
}

}  // namespace refrain::events
