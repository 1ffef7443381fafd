// Survey: what must be known of the other end of a message, or of the other ranks of a collective.
//
// A first walk over the chosen ranks counts the ends of messages on each channel and keeps the
// sizes of what was sent, as runs: the n-th send and the n-th receive are one message, and a
// receive learns how many bytes came. Memory follows the number of channels and of changes of a
// size, up to kMostEntries; beyond that a message has no other end and a receive its room.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "convert/rank_events.h"

namespace refrain::convert {

class Survey {
 public:
  static constexpr size_t kMostEntries = size_t{20} << 20;

  // Walks all chosen ranks.
  Survey(Job& job, World& world);

  // Both ends of this message are in what is converted.
  bool is_whole(const Step& step) const;
  // Bytes of the message, as its sender said; nothing: the sender is not known.
  std::optional<uint64_t> bytes(const Step& step) const;
  // All chosen members of the communicator make this collective within what is converted.
  bool is_whole(const waits::Op& op, uint64_t number);
  // All members of the communicator are in what is converted.
  bool has_all_members(const waits::Op& op);
  uint64_t last_ns() const { return last_ns_; }

 private:
  struct Range {  // of numbers
    uint64_t first = UINT64_MAX, end = 0;
    void add(uint64_t n) {
      if (n < first) first = n;
      if (n >= end) end = n + 1;
    }
    bool has(uint64_t n) const { return n >= first && n < end; }
  };
  struct Size {
    uint64_t first = 0, bytes = 0;
  };
  struct Channel {
    Range sent, received;
    std::vector<Size> sizes;
  };
  struct Collectives {
    uint64_t first = 0, end = UINT64_MAX;
    uint64_t ranks = 0;
  };

  void add(const Step& step, bool in_window);
  Channel* channel(const waits::ChannelKey& key);
  uint64_t members(const waits::Op& op);

  Job& job_;
  std::unordered_map<waits::ChannelKey, Channel, waits::ChannelHash> channels_;
  std::unordered_map<waits::CommKey, Collectives> collectives_;
  std::unordered_map<waits::CommKey, uint64_t> members_;  // chosen ones; counted once for all ranks
  size_t entries_ = 0;
  uint64_t last_ns_ = 0;
};

// Chosen members of the communicator of an op, both groups of an inter-communicator.
uint64_t chosen_members(const Job& job, const Communicator& comm);

}  // namespace refrain::convert
