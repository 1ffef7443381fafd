#include "analysis/waits/messages.h"

#include <algorithm>

namespace refrain::analysis::waits {

MessageId MessageTable::end(const ChannelKey& key, bool sends) {
  events::ChannelQueues::Queue& queue = queues_.of(key);
  // The n-th send of a channel is matched with its n-th receive. After an end was dropped the rest
  // would be matched with wrong ends, so the channel is given up as a whole.
  if (queue.is_broken) {
    ++dropped_;
    return kNoMessage;
  }
  if (queue.has(!sends)) return queues_.take(key, queue, link());  // its use becomes the caller's
  // The bound keeps a trace in which nothing is received (damaged, or of a program that cancels)
  // from filling the memory.
  if (live_ >= most_) {
    queue.is_broken = true;
    ++dropped_;
    return kNoMessage;
  }
  auto id = static_cast<MessageId>(all_.size());
  // Numbers are used again: the memory is that of the messages that are open at a time, not of all.
  if (free_.empty()) {
    all_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
    all_[id] = Message();
  }
  most_live_ = std::max(most_live_, ++live_);
  events::ChannelQueues::append(queue, sends, id, link());
  // The end that made it, and the queue, whose use goes to the other end.
  all_[id].users = 2;
  return id;
}

MessageId MessageTable::taken(const ChannelKey& key) {
  const MessageId id = end(key, false);
  if (id != kNoMessage) all_[id].is_taken = true;
  return id;
}

MessageId MessageTable::peek(const ChannelKey& key) const { return queues_.peek(key, true); }

void MessageTable::hold(const ChannelKey& key, uint32_t location) { held_.emplace(key, location); }

uint32_t MessageTable::take_held(const ChannelKey& key) {
  if (held_.empty()) return kNoLocation;
  const auto held = held_.find(key);
  if (held == held_.end()) return kNoLocation;
  const uint32_t location = held->second;
  held_.erase(held);
  return location;
}

void MessageTable::drop(MessageId id) {
  if (id == kNoMessage || --all_[id].users > 0) return;
  free_.push_back(id);
  --live_;
}

// Of a cancelled receive: both its own use and the queue's, as no send will ever take it.
void MessageTable::forget(const ChannelKey& key, MessageId id) {
  if (!queues_.remove(key, id, link())) return;
  drop(id);  // the queue's
  drop(id);
}

}  // namespace refrain::analysis::waits
