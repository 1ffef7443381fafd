#include "analysis/waits/messages.h"

#include <algorithm>

namespace refrain::analysis::waits {

MessageId MessageTable::end(const ChannelKey& key, bool sends) {
  Channel& channel = channels_[key];
  if (channel.is_broken) {
    ++dropped_;
    return kNoMessage;
  }
  if (channel.count > 0 && channel.are_sent != sends) {
    const MessageId id = channel.first;
    channel.first = all_[id].next_of_channel;
    if (--channel.count == 0) channels_.erase(key);
    return id;  // the queue's use becomes the caller's
  }
  if (live_ >= most_) {
    channel.is_broken = true;  // what follows would be matched one off
    ++dropped_;
    return kNoMessage;
  }
  auto id = static_cast<MessageId>(all_.size());
  if (free_.empty()) {
    all_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
    all_[id] = Message();
  }
  most_live_ = std::max(most_live_, ++live_);
  (channel.count == 0 ? channel.first : all_[channel.last].next_of_channel) = id;
  channel.last = id;
  channel.are_sent = sends;
  ++channel.count;
  all_[id].users = 2;
  return id;
}

MessageId MessageTable::taken(const ChannelKey& key) {
  const MessageId id = end(key, false);
  if (id != kNoMessage) all_[id].is_taken = true;
  return id;
}

MessageId MessageTable::peek(const ChannelKey& key) const {
  const Channel* channel = channels_.find(key);
  return channel == nullptr || channel->count == 0 || !channel->are_sent ? kNoMessage
                                                                         : channel->first;
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
  Channel* const channel = channels_.find(key);
  if (channel == nullptr || channel->count == 0 || channel->are_sent) return;
  MessageId before = kNoMessage, at = channel->first;
  for (uint32_t i = 0; i < channel->count && at != id; ++i)
    before = at, at = i + 1 < channel->count ? all_[at].next_of_channel : kNoMessage;
  if (at != id) return;
  (before == kNoMessage ? channel->first : all_[before].next_of_channel) = all_[id].next_of_channel;
  if (channel->last == id) channel->last = before;
  if (--channel->count == 0 && !channel->is_broken) channels_.erase(key);
  drop(id);  // the queue's
  drop(id);
}

uint64_t MessageTable::count(bool are_sent) const {
  uint64_t n = 0;
  channels_.for_each([&](const ChannelKey&, const Channel& channel) {
    if (channel.are_sent == are_sent) n += channel.count;
  });
  return n;
}

}  // namespace refrain::analysis::waits
