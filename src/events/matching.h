// Matching of sends and receives. No other code matches messages.
//
// MPI matches the n-th send of a channel (channel.h) with its n-th receive, both in the order in
// which they were posted. A wildcard receive belongs to the channel of the message that it matched,
// which LookAhead provides at the call that posts it. A cancelled receive belongs to no channel.
//
//   ChannelQueues    for ends of all ranks in the order of time: pairs them as they come
//   ChannelNumbers   for one rank after another: numbers them, equal numbers are one message
//
// Code that counts on grammars instead of walking the calls (the report page) must count as
// ChannelNumbers does, and may do so only for channels that OpenEnds calls counted.
#pragma once

#include <cstddef>
#include <cstdint>

#include "events/channel.h"
#include "events/flat_map.h"
#include "events/look_ahead.h"
#include "events/op.h"

namespace refrain::events {

inline ChannelKey channel_of_send(const MessageEnd& end, Rank me) {
  return {end.comm, me, end.peer, end.tag};
}
inline ChannelKey channel_of_receive(const MessageEnd& end, Rank me) {
  return {end.comm, end.peer, me, end.tag};
}

// The receive that `op` posts in `call` on rank `me`: of one that asked for any message, what it
// took. `op` is that of the call itself, or of the request that it starts.
MessageEnd posted_receive(const Op& op, const StagedCall& call, CommTable& comms, Rank me);

// Ends whose other ends have not come, oldest first. An end has a name, which is the caller's, who
// also keeps the name of the one behind it on its channel: `link(name)` is where, a Name&.
class ChannelQueues {
 public:
  using Name = uint32_t;
  static constexpr Name kNone = UINT32_MAX;

  struct Queue {
    Name first = kNone, last = kNone;
    uint32_t count = 0;
    bool are_sends = false;  // all of them; else all receives
    bool is_broken = false;  // an end was lost: what follows would be matched one off
    bool has(bool sends) const { return count > 0 && are_sends == sends; }
  };

  // Valid until the next use of another channel.
  Queue& of(const ChannelKey& channel) { return queues_[channel]; }
  // The one that the next end of the other side would get; kNone: there is none.
  Name peek(const ChannelKey& channel, bool sends) const {
    const Queue* const queue = queues_.find(channel);
    return queue != nullptr && queue->has(sends) ? queue->first : kNone;
  }
  // Takes the first one out of the channel's queue, which is not empty.
  template <class Link>
  Name take(const ChannelKey& channel, Queue& queue, Link link) {
    const Name name = queue.first;
    queue.first = link(name);
    if (--queue.count == 0) queues_.erase(channel);
    return name;
  }
  template <class Link>
  static void append(Queue& queue, bool sends, Name name, Link link) {
    (queue.count == 0 ? queue.first : link(queue.last)) = name;
    queue.last = name;
    queue.are_sends = sends;
    ++queue.count;
  }
  // A receive that was cancelled leaves. False: it is not in the queue.
  template <class Link>
  bool remove(const ChannelKey& channel, Name name, Link link);
  // Of all channels.
  uint64_t count(bool sends) const;
  // Calls visit(channel, queue) for each channel, in no order.
  template <class Visit>
  void for_each(Visit&& visit) const {
    queues_.for_each(visit);
  }

 private:
  FlatMap<ChannelKey, Queue, ChannelHash> queues_;
};

template <class Link>
bool ChannelQueues::remove(const ChannelKey& channel, Name name, Link link) {
  Queue* const queue = queues_.find(channel);
  if (queue == nullptr || !queue->has(false)) return false;
  Name before = kNone, at = queue->first;
  for (uint32_t i = 0; i < queue->count && at != name; ++i)
    before = at, at = i + 1 < queue->count ? link(at) : kNone;
  if (at != name) return false;
  (before == kNone ? queue->first : link(before)) = link(name);
  if (queue->last == name) queue->last = before;
  if (--queue->count == 0 && !queue->is_broken) queues_.erase(channel);
  return true;
}

// The ends of one rank, in the order in which it posts them.
class ChannelNumbers {
 public:
  // From 0.
  uint64_t next(const ChannelKey& channel, bool sends) {
    Ends& ends = channels_[channel];
    return sends ? ends.sent++ : ends.received++;
  }
  size_t size() const { return channels_.size(); }
  // About how much memory a channel takes.
  static constexpr size_t kBytes = 80;

 private:
  struct Ends {
    uint64_t sent = 0, received = 0;
  };
  FlatMap<ChannelKey, Ends, ChannelHash> channels_;
};

}  // namespace refrain::events
