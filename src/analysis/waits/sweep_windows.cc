// One-sided communication: epochs of post, start, complete and wait, and locks. Fences and the
// making of windows are collectives.
//
// An epoch is matched like a message: from the target that posts to the origin that starts, and
// back from the origin that completes to the target that waits.

#include <algorithm>

#include "analysis/waits/sweep.h"

namespace refrain::analysis::waits {
namespace {

constexpr CommKey kPosts = kNoComm - 1, kCompletes = kNoComm - 2;  // no communicators
constexpr size_t kMostLocks = 256;

}  // namespace

void Sweep::begin_window(uint32_t location) {
  LocationState& l = locations_[location];
  const Op& op = *l.current.op;
  RankState& rank = rank_of(l);
  const auto known = rank.windows.find(op.window);
  if (known == rank.windows.end()) return;
  const uint64_t window = known->second;
  const auto tag = static_cast<int64_t>(window);
  Epoch& epoch = rank.epochs[window];
  const auto send = [&](CommKey channel, Rank to) {
    if (!is_here(to)) return;
    const ChannelKey key{channel, l.rank, to, tag};
    const MessageId id = messages_.sent(key);
    if (id == kNoMessage) return;
    Message& message = messages_.at(id);
    message.sender = l.rank;
    message.receiver = to;
    now_sent(location, message, key);
    messages_.drop(id);
  };
  const auto take = [&](CommKey channel, Rank from, std::vector<MessageId>& list) {
    if (!is_here(from)) return;
    const MessageId id = messages_.taken({channel, from, l.rank, tag});
    if (id != kNoMessage) list.push_back(id);
  };
  switch (op.epoch) {
    case EpochCall::kPost:
    case EpochCall::kStart: {
      const std::vector<Rank>& group = rank.decoder->group(op.message_object);
      if (group.empty()) ++counts_.unknown_groups;
      if (op.epoch == EpochCall::kPost) {
        epoch.origins = group;
        for (const Rank origin : group) send(kPosts, origin);
      } else {
        epoch.targets = group;
        for (const Rank target : group) take(kPosts, target, epoch.posts);
      }
      break;
    }
    case EpochCall::kComplete:
      for (const Rank target : epoch.targets) send(kCompletes, target);
      epoch.targets.clear();
      break;
    case EpochCall::kWait:
      for (const Rank origin : epoch.origins) take(kCompletes, origin, l.completes);
      epoch.origins.clear();
      break;
    case EpochCall::kLock: {
      std::deque<Lock>& locks = locks_[window];
      Lock lock;
      lock.origin = l.rank;
      lock.target = op.partners.empty() ? -1 : op.partners[0];
      lock.is_exclusive = op.is_exclusive;
      lock.begin = l.begin;
      locks.push_back(lock);
      if (locks.size() > kMostLocks) locks.pop_front();
      break;
    }
    case EpochCall::kUnlock: {
      const Rank target = op.partners.empty() ? -1 : op.partners[0];
      for (Lock& lock : locks_[window]) {
        if (lock.origin != l.rank || lock.has_ended || lock.target != target) continue;
        lock.unlock_begin = l.begin;
        lock.unlock = l.node;
      }
      break;
    }
    default: break;
  }
}

void Sweep::collect_window(uint32_t location) {
  LocationState& l = locations_[location];
  const Op& op = *l.current.op;
  RankState& rank = rank_of(l);
  const auto known = rank.windows.find(op.window);
  if (known == rank.windows.end()) return;
  const auto note = [&](MessageId id, Pattern pattern) {
    const Message& message = messages_.at(id);
    if (!message.is_sent) return;
    if (message.sent_ns <= l.end)
      releases_.push_back({message.sent_ns, pattern, message.send_node, message.ideal_sent});
    else
      ideal_ = std::max(ideal_, message.ideal_sent);
  };
  if (op.epoch == EpochCall::kStart || op.epoch == EpochCall::kAccess ||
      op.epoch == EpochCall::kComplete)
    for (const MessageId id : rank.epochs[known->second].posts) note(id, Pattern::kLatePost);
  if (op.epoch == EpochCall::kWait)
    for (const MessageId id : l.completes) note(id, Pattern::kEarlyWait);
  if (op.epoch == EpochCall::kLock || op.epoch == EpochCall::kAccess ||
      op.epoch == EpochCall::kUnlock)
    collect_lock(location);
}

// Waits for a lock are seen where another rank's unlock of the same target, in a mode that excludes
// this one's, returned during a call of this epoch. After the first such call the lock is there. An
// unlock that began during this call and returned after it has let go of the lock before it
// returned: then what is certain of the wait ends where it began.
void Sweep::collect_lock(uint32_t location) {
  LocationState& l = locations_[location];
  const Op& op = *l.current.op;
  std::deque<Lock>& locks = locks_[rank_of(l).windows[op.window]];
  const Rank target = op.partners.empty() ? -1 : op.partners[0];
  const auto same_target = [](Rank a, Rank b) { return a < 0 || b < 0 || a == b; };
  const auto own = std::find_if(locks.rbegin(), locks.rend(), [&](const Lock& lock) {
    return lock.origin == l.rank && !lock.has_ended && same_target(lock.target, target);
  });
  if (own == locks.rend() || own->is_granted) return;
  const auto is_during = [&](uint64_t ns) { return ns > l.begin && ns < l.end; };
  const Lock* holder = nullptr;
  uint64_t until = 0;
  for (const Lock& lock : locks) {
    if (lock.origin == l.rank || lock.unlock == kNoNode || !same_target(lock.target, own->target) ||
        !(lock.is_exclusive || own->is_exclusive))
      continue;
    const bool has_returned = lock.has_ended && lock.end < l.end;
    if (!has_returned && lock.begin >= own->begin) continue;  // perhaps after this one
    const uint64_t ns = has_returned ? lock.end : lock.unlock_begin;
    if (is_during(ns) && ns > until) holder = &lock, until = ns;
  }
  if (holder == nullptr) return;
  own->is_granted = true;
  releases_.push_back({until, Pattern::kLockContention, holder->unlock});
}

void Sweep::end_window(uint32_t location) {
  LocationState& l = locations_[location];
  const Op& op = *l.current.op;
  RankState& rank = rank_of(l);
  for (const MessageId id : l.completes) messages_.drop(id);
  l.completes.clear();
  const auto known = rank.windows.find(op.window);
  if (known == rank.windows.end()) return;
  if (op.epoch == EpochCall::kStart || op.epoch == EpochCall::kAccess ||
      op.epoch == EpochCall::kComplete) {
    std::vector<MessageId>& posts = rank.epochs[known->second].posts;
    const auto seen = [&](MessageId id) {
      const bool done = messages_.at(id).is_sent || op.epoch == EpochCall::kComplete;
      if (done) messages_.drop(id);
      return done;
    };
    posts.erase(std::remove_if(posts.begin(), posts.end(), seen), posts.end());
  }
  if (op.epoch != EpochCall::kUnlock) return;
  const Rank target = op.partners.empty() ? -1 : op.partners[0];
  for (Lock& lock : locks_[known->second]) {
    if (lock.origin != l.rank || lock.has_ended || lock.target != target) continue;
    lock.has_ended = true;
    lock.end = l.end;
  }
}

}  // namespace refrain::analysis::waits
