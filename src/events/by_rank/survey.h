// Survey: facts about the other end of a message, and about the other ranks of a collective.
//
// A first walk over the chosen ranks counts the ends of messages on each channel and keeps the
// sizes of sends, as runs. The n-th send and the n-th receive are one message, so a receive gets
// its size from the send. If channels and changes of size take more than half of Options::memory,
// the walk begins again, and the ends are joined on disk (message_ends.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "events/by_rank/message_ends.h"
#include "events/by_rank/rank_events.h"

namespace refrain::events {

class Survey {
 public:
  // All walks after run() get their ends of messages from here, in the same order of ranks.
  Survey(Scope& scope, World& world) : scope_(scope), world_(world) {}

  // Walks all chosen ranks.
  Status run();
  // The same, outside of memory at once.
  Status run_outside(MessageEnds::Wanted wanted);

  // Both ends of this message are in what is converted.
  bool is_whole(const Step& step) const;
  // Bytes of the message, as its sender said; nothing: the sender is not known.
  std::optional<uint64_t> bytes(const Step& step) const;
  // All chosen members of the communicator make this collective within what is converted.
  bool is_whole(const Op& op, uint64_t number);
  // All members of the communicator are in what is converted.
  bool has_all_members(const Op& op);
  // Different pairs of communicator and tag.
  uint64_t tags() const { return ends_ ? ends_->tags() : tags_.size(); }

  // Before one more walk.
  Status rewind() { return ends_ ? ends_->rewind() : Status(base::Done{}); }
  // Whether ends of messages could be read back.
  Status status() const { return ends_ ? ends_->status() : Status(base::Done{}); }

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
  // About how much memory one takes.
  static constexpr size_t kChannelBytes = 150, kSizeBytes = 24, kTagBytes = 64;

  // False: the tables are larger than they may be, or MessageEnds failed.
  bool walk();
  bool fits(const RankEvents& events) const;
  void add(const Step& step, bool in_window);
  uint64_t members(const Op& op);

  Scope& scope_;
  World& world_;
  std::unique_ptr<MessageEnds> ends_;
  std::unordered_map<ChannelKey, Channel, ChannelHash> channels_;
  size_t sizes_ = 0;
  std::set<std::pair<CommKey, int64_t>> tags_;
  std::unordered_map<CommKey, Collectives> collectives_;
  std::unordered_map<CommKey, uint64_t> members_;  // chosen ones; counted once for all ranks
};

// Chosen members of the communicator of an op, both groups of an inter-communicator.
uint64_t chosen_members(const Scope& scope, const Communicator& comm);

}  // namespace refrain::events
