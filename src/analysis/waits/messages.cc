#include "analysis/waits/messages.h"

#include <algorithm>

namespace refrain::analysis::waits {

MessageId MessageTable::end(const ChannelKey& key, Queue others, Queue own) {
  Channel& channel = channels_[key];
  if (channel.is_broken) {
    ++dropped_;
    return kNoMessage;
  }
  std::deque<MessageId>& waiting = channel.*others;
  if (!waiting.empty()) {
    const MessageId id = waiting.front();
    waiting.pop_front();
    if (channel.untaken.empty() && channel.unsent.empty()) channels_.erase(key);
    return id;  // the queue's use becomes the caller's
  }
  if (live_ >= most_) {
    channel.is_broken = true;  // what follows would be matched one off
    ++dropped_;
    return kNoMessage;
  }
  MessageId id = static_cast<MessageId>(all_.size());
  if (free_.empty()) {
    all_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
    all_[id] = Message();
  }
  most_live_ = std::max(most_live_, ++live_);
  (channel.*own).push_back(id);
  all_[id].users = 2;
  return id;
}

MessageId MessageTable::taken(const ChannelKey& key) {
  const MessageId id = end(key, &Channel::untaken, &Channel::unsent);
  if (id != kNoMessage) all_[id].is_taken = true;
  return id;
}

MessageId MessageTable::peek(const ChannelKey& key) const {
  const auto channel = channels_.find(key);
  if (channel == channels_.end() || channel->second.untaken.empty()) return kNoMessage;
  return channel->second.untaken.front();
}

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

void MessageTable::forget(const ChannelKey& key, MessageId id) {
  const auto channel = channels_.find(key);
  if (channel == channels_.end()) return;
  std::deque<MessageId>& unsent = channel->second.unsent;
  const auto at = std::find(unsent.begin(), unsent.end(), id);
  if (at == unsent.end()) return;
  unsent.erase(at);
  if (unsent.empty() && !channel->second.is_broken) channels_.erase(channel);
  drop(id);  // the queue's
  drop(id);
}

uint64_t MessageTable::count(Queue queue) const {
  uint64_t n = 0;
  for (const auto& [key, channel] : channels_) n += (channel.*queue).size();
  return n;
}

}  // namespace refrain::analysis::waits
