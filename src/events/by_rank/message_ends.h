// MessageEnds: finds both ends of messages when the table of channels does not fit in memory.
//
//   first walk:   seq = ends.send(channel, ...), ends.receive(channel, ...) as they are posted
//   ends.join(folder)
//   second walk:  the same ranks and calls again: ends.next() is the answer to each send() and
//                 receive() of the first one, in its order
//
// The ends are sorted by channel on disk. In this order they are numbered, and each end gets the
// data of the other end. They are then sorted back into the order of the walk. The temporary file
// has about 100 bytes per end.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "events/by_rank/external_sort.h"
#include "events/channel.h"

namespace refrain::events {

// What an end learns.
struct EndAnswer {
  uint64_t number = 0;                 // of the message on its channel, from 0
  bool is_whole = false;               // both ends are in what is converted
  std::optional<uint64_t> sent_bytes;  // as the sender said
};

class MessageEnds {
 public:
  enum class Wanted : uint8_t { kNumbers, kAll };  // kNumbers: nothing of the other end

  MessageEnds(std::string folder, size_t sort_bytes, Wanted wanted);

  bool is_joined() const { return answers_ != nullptr; }

  // The first walk. Returned is what use() names a receive by.
  uint64_t send(const ChannelKey& channel, bool in_window, std::optional<uint64_t> bytes);
  uint64_t receive(const ChannelKey& channel, bool in_window);
  // A receive that was made outside of the window is used inside of it.
  void use(const ChannelKey& channel, uint64_t receive);
  base::Status join();

  // The second walk.
  EndAnswer next();
  // Once more from the first answer.
  base::Status rewind();

  // The first thing that went wrong; next() then knows nothing.
  const base::Status& status() const;
  // Different pairs of communicator and tag.
  uint64_t tags() const { return tags_; }

 private:
  enum class Kind : uint8_t { kSend, kReceive, kUse };
  struct Post {
    int64_t tag = 0;
    Rank source = 0, dest = 0;
    uint64_t seq = 0;
    uint64_t value = 0;  // of a send its bytes
    CommKey comm = 0;
    Kind kind = Kind::kSend;
    bool in_window = false, is_sized = false;
    bool receives() const { return kind != Kind::kSend; }
    auto channel() const { return std::tie(comm, tag, source, dest); }
    bool operator<(const Post& o) const {
      if (channel() != o.channel()) return channel() < o.channel();
      if (receives() != o.receives()) return o.receives();
      return std::tie(seq, kind) < std::tie(o.seq, o.kind);
    }
  };
  // An end with its number; or, in front of a channel's ends, which of its numbers are whole.
  struct Numbered {
    uint64_t channel = 0, number = 0;
    uint64_t seq = 0;    // in front: the number behind the last that is whole
    uint64_t bytes = 0;  // of a send
    uint8_t kind = 0;    // 0: in front, 1: send, 2: receive
    bool is_sized = false;
    bool operator<(const Numbered& o) const {
      const bool a = kind > 0, b = o.kind > 0;
      return std::tie(channel, a, number, kind) < std::tie(o.channel, b, o.number, o.kind);
    }
  };
  struct Answer {
    uint64_t seq = 0, number = 0, bytes = 0;
    bool is_whole = false, is_sized = false;
    bool operator<(const Answer& o) const { return seq < o.seq; }
  };
  class Channel;

  uint64_t post(const ChannelKey& channel, Post post);
  void add(const Post& post);
  base::Status give_numbers(ExternalSort<Numbered>& numbered);
  base::Status answer(ExternalSort<Numbered>& numbered);

  std::string folder_;
  size_t sort_bytes_;
  Wanted wanted_;
  std::unique_ptr<ExternalSort<Post>> posts_;
  std::unique_ptr<ExternalSort<Answer>> answers_;
  uint64_t seq_ = 0, tags_ = 0;
  base::Status status_ = base::Done{};
};

}  // namespace refrain::events
