// One-sided communication: epochs of post, start, complete and wait, and locks. Fences and the
// making of windows are collectives.
//
// An epoch is matched like a message: from the target that posts to the origin that starts, and
// back from the origin that completes to the target that waits.

#include <algorithm>

#include "analysis/waits/sweep.h"

namespace refrain::analysis::waits {
namespace {

// Messages of epochs need channels that no message of the program has: numbers of communicators are
// given from 0 on.
constexpr CommKey kPosts = kNoComm - 1, kCompletes = kNoComm - 2;  // no communicators
// Each access looks at all locks of its window, so they are bounded. A lock that has fallen out of
// the list is a wait that is not found, and never a wrong one.
constexpr size_t kMostLocks = 256;

}  // namespace

void Sweep::begin_window(uint32_t location) {
  LocationState& l = locations_[location];
  const Op& op = *l.current.op;
  RankState& rank = rank_of(l);
  const auto known = rank.windows.find(op.window);
  if (known == rank.windows.end()) return;
  const uint64_t window = known->second;
  // The window takes the place of the tag: epochs of two windows between the same ranks are two
  // channels.
  const auto tag = static_cast<int64_t>(window);
  Epoch& epoch = rank.epochs[window];
  const auto send = [&](CommKey channel, Rank to) {
    if (!is_here(to)) return;
    const ChannelKey key{channel, l.rank, to, tag};
    const MessageId id = messages_.sent(key);
    if (id == kNoMessage) return;
    Message& message = messages_.at(id);
    // Nothing asks for the sender's end again; the other end keeps the message until it has seen
    // it.
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
      // Groups are known from calls that list their ranks; of computed ones nothing is known
      // (docs/waits.md).
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
      // The next epoch of this window names its targets anew.
      epoch.targets.clear();
      break;
    case EpochCall::kWait:
      for (const Rank origin : epoch.origins) take(kCompletes, origin, l.completes);
      epoch.origins.clear();
      break;
    case EpochCall::kLock:
    case EpochCall::kUnlock: begin_lock(l, window); break;
    default: break;
  }
}

// A lock is open until its unlock has returned. All of a window are in one list, in the order of
// time: whom a call may have waited for is looked for among the locks of the others (collect_lock).
void Sweep::begin_lock(const LocationState& l, uint64_t window) {
  const Op& op = *l.current.op;
  std::deque<Lock>& locks = locks_[window];
  // MPI_Win_lock_all names no target: it is for all of them.
  const Rank target = op.partners.empty() ? -1 : op.partners[0];
  if (op.epoch == EpochCall::kLock) {
    Lock lock;
    lock.origin = l.rank;
    lock.target = target;
    lock.is_exclusive = op.is_exclusive;
    lock.begin = l.begin;
    locks.push_back(lock);
    if (locks.size() > kMostLocks) locks.pop_front();
    return;
  }
  for (Lock& lock : locks) {
    if (lock.origin != l.rank || lock.has_ended || lock.target != target) continue;
    lock.unlock_begin = l.begin;
    lock.unlock = l.node;
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
    // A post after the end of the call did not keep it: the library has only noted the access. It
    // keeps the rank in the ideal run all the same, where accesses are done when they are called.
    if (message.sent_ns <= l.end)
      releases_.push_back(
          {message.sent_ns, pattern, message.send_node, message.sender, message.ideal_sent});
    else
      ideal_ = std::max(ideal_, message.ideal_sent);
  };
  if (op.epoch == EpochCall::kStart || op.epoch == EpochCall::kAccess ||
      op.epoch == EpochCall::kComplete)
    // Which of the three blocks until the post is the library's choice (MPI-4.0, section 12.5.2),
    // so each is asked.
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
  // The newest lock is the open one; a rank has one at a time of a target.
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
  releases_.push_back({until, Pattern::kLockContention, holder->unlock, holder->origin});
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
    // A post that this call has not seen may keep a later call of the epoch. No call behind
    // MPI_Win_complete belongs to the epoch.
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
