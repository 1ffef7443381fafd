// Messages between their two ends, matched by (communicator, source, destination, tag) in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/waits/request.h"
#include "analysis/waits/vocabulary.h"

namespace refrain::analysis::waits {

using NodeId = uint64_t;
inline constexpr NodeId kNoNode = UINT64_MAX;
// Every MPI sends as much at once: the smallest eager limit that one comes with is 4 KiB.
inline constexpr uint64_t kKeptBytes = 1024;
inline constexpr uint32_t kNoLocation = UINT32_MAX;

struct Message {
  NodeId send_node = kNoNode, receive_node = kNoNode;
  NodeId done_node = kNoNode;  // that completed its receive; only for an observer, as the next
  uint64_t waited_ns = 0;
  uint64_t sent_ns = 0, posted_ns = 0;        // begin of the send, and of the receive
  uint64_t ideal_sent = 0, ideal_posted = 0;  // the same on the ideal network
  uint64_t send_ended_ns = UINT64_MAX;        // when the sender could go on
  uint64_t bytes = 0;
  Rank sender = kNobody, receiver = kNobody;
  CommKey comm = kNoComm;
  int64_t tag = 0;
  uint64_t parts_left = 0;             // of a partitioned one, to be made ready
  uint32_t held = kNoLocation;         // location that waits to see it sent
  uint32_t held_sender = kNoLocation;  // location that waits to see it posted
  MessageId next_of_channel = kNoMessage;
  MessageId next_incoming = kNoMessage, previous_incoming = kNoMessage;  // of the receiver
  uint8_t users = 0;
  bool is_sent = false, is_posted = false, is_received = false, is_synchronous = false;
  // Whether the send waits for its receive was up to the library, or never happens.
  bool is_standard = false, is_buffered = false;
  bool is_listed = false;             // among those incoming
  bool is_taken = false;              // the channel has given it to a receive
  bool is_late_out_of_order = false;  // the receiver took one that was sent later, first
};

// What is known of messages in flight. Every function that gives out a message adds a user; it is
// gone when the last one lets go of it.
class MessageTable {
 public:
  explicit MessageTable(size_t most) : most_(most) {}

  // The next message that goes, or is received, on this channel. kNoMessage: the table is full, or
  // was when an earlier message of the channel should have entered.
  MessageId sent(const ChannelKey& key) { return end(key, true); }
  MessageId taken(const ChannelKey& key);
  // The message that a receive would take now; kNoMessage: nothing was sent yet. Adds no user.
  MessageId peek(const ChannelKey& key) const;
  // Waits for it: the message that the next send on the channel makes. Adds no user.
  void hold(const ChannelKey& key, uint32_t location);
  // A location that waits for a message on this channel; forgets it.
  uint32_t take_held(const ChannelKey& key);

  Message& at(MessageId id) { return all_[id]; }
  void use(MessageId id) { ++all_[id].users; }
  void drop(MessageId id);
  // A receive that was cancelled before its message was sent: the next one gets that. Drops a user.
  void forget(const ChannelKey& key, MessageId id);

  // Messages that are still in use.
  template <class F>
  void for_each(F f) const {
    for (const Message& message : all_)
      if (message.users > 0) f(message);
  }

  size_t live() const { return live_; }
  size_t most_live() const { return most_live_; }
  uint64_t dropped() const { return dropped_; }
  // Messages with one end only, after the last call.
  uint64_t only_sent() const { return queues_.count(true); }
  uint64_t only_received() const { return queues_.count(false); }

 private:
  MessageId end(const ChannelKey& key, bool sends);
  auto link() {
    return [this](MessageId id) -> MessageId& { return all_[id].next_of_channel; };
  }

  size_t most_, live_ = 0, most_live_ = 0;
  uint64_t dropped_ = 0;
  std::vector<Message> all_;
  std::vector<MessageId> free_;
  events::ChannelQueues queues_;  // of messages with one end
  std::unordered_multimap<ChannelKey, uint32_t, ChannelHash> held_;
};

}  // namespace refrain::analysis::waits
