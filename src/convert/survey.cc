#include "convert/survey.h"

#include <algorithm>

namespace refrain::convert {

uint64_t chosen_members(const Job& job, const Communicator& comm) {
  uint64_t count = 0;
  for (uint64_t i = 0; i < comm.size(); ++i)
    count += job.position(comm.member(static_cast<int64_t>(i))) >= 0 ? 1 : 0;
  for (uint64_t i = 0; i < comm.remote_size(); ++i)
    count += job.position(comm.remote_member(static_cast<int64_t>(i))) >= 0 ? 1 : 0;
  return count;
}

Survey::Survey(Job& job, World& world) : job_(job) {
  for (const Rank rank : job.ranks) {
    RankEvents events(job, world, rank);
    std::unordered_map<waits::CommKey, Range> collectives;
    while (const Event* event = events.next()) {
      last_ns_ = std::max(last_ns_, event->end_ns);
      for (const Step& step : event->steps) add(step, event->in_window);
      if (event->collective.is_there && event->in_window)
        for (const Step& step : event->steps)
          if (step.kind == StepKind::kPostCollective)
            collectives[step.op->comm.key].add(step.collective);
      if (event->collective.is_there && event->in_window &&
          event->op->action == waits::Action::kCollective && !event->op->makes_request)
        collectives[event->op->comm.key].add(event->collective.number);
    }
    for (const auto& [comm, range] : collectives) {
      Collectives& all = collectives_[comm];
      all.first = std::max(all.first, range.first);
      all.end = std::min(all.end, range.end);
      ++all.ranks;
    }
  }
}

Survey::Channel* Survey::channel(const waits::ChannelKey& key) {
  const auto known = channels_.find(key);
  if (known != channels_.end()) return &known->second;
  if (entries_ >= kMostEntries) return nullptr;
  ++entries_;
  return &channels_[key];
}

void Survey::add(const Step& step, bool in_window) {
  if (!step.has_message) return;
  const bool sends = step.kind == StepKind::kSend || step.kind == StepKind::kPostSend;
  const bool receives = step.kind == StepKind::kReceive || step.kind == StepKind::kPostReceive;
  if (!sends && !receives) return;
  Channel* known = channel(step.channel);
  if (known == nullptr) return;
  if (in_window) (sends ? known->sent : known->received).add(step.number);
  if (!sends || !step.is_sized) return;
  if (!known->sizes.empty() && known->sizes.back().bytes == step.bytes) return;
  if (entries_ >= kMostEntries) return;
  ++entries_;
  known->sizes.push_back({step.number, step.bytes});
}

bool Survey::is_whole(const Step& step) const {
  if (!step.has_message) return false;
  const auto known = channels_.find(step.channel);
  return known != channels_.end() && known->second.sent.has(step.number) &&
         known->second.received.has(step.number);
}

std::optional<uint64_t> Survey::bytes(const Step& step) const {
  const auto known = channels_.find(step.channel);
  if (!step.has_message || known == channels_.end()) return std::nullopt;
  const std::vector<Size>& sizes = known->second.sizes;
  auto after = std::upper_bound(sizes.begin(), sizes.end(), step.number,
                                [](uint64_t n, const Size& size) { return n < size.first; });
  if (after == sizes.begin()) return std::nullopt;
  return (--after)->bytes;
}

bool Survey::is_whole(const waits::Op& op, uint64_t number) {
  const auto known = collectives_.find(op.comm.key);
  if (known == collectives_.end()) return false;
  const Collectives& all = known->second;
  return number >= all.first && number < all.end && all.ranks == members(op);
}

uint64_t Survey::members(const waits::Op& op) {
  const auto [known, is_new] = members_.try_emplace(op.comm.key, 0);
  if (is_new) known->second = chosen_members(job_, op.comm.comm);
  return known->second;
}

bool Survey::has_all_members(const waits::Op& op) {
  return members(op) == op.comm.comm.size() + op.comm.comm.remote_size();
}

}  // namespace refrain::convert
