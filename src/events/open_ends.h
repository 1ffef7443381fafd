// Channels whose messages cannot be found by counting: the n-th send and the n-th receive that the
// calls name need not be one message.
//
// A picture of a run need not store a message whose ends it can find by counting the calls of a
// channel (communicator, sender, receiver, tag) in grammars. This fails if a receive matched a
// message that its call does not name (wildcards that complete later, matched probes), if a receive
// was cancelled, if the order of calls on a rank is not that of one grammar (several threads), or
// if calls are missing.
#pragma once

#include <cstdint>
#include <vector>

#include "events/op.h"

namespace refrain::events {

// Of one rank's receives; kAny: whatever it is.
struct OpenEnd {
  CommKey comm = kNoComm;
  Rank source = 0;
  int64_t tag = 0;
  bool is_any_comm = false;  // all receives of the rank
  bool operator==(const OpenEnd&) const = default;
};

class OpenEnds {
 public:
  static constexpr size_t kMostOfRank = 24;  // with more all of its receives are open

  explicit OpenEnds(Rank ranks) : of_(static_cast<size_t>(ranks)), whole_(of_.size()) {}

  // What one of the rank's calls says; every signature once, in any order.
  void add(Rank rank, const Op& op, Decoder& ops);
  // Nothing that the rank sends or receives is counted.
  void add_rank(Rank rank) { whole_[static_cast<size_t>(rank)] = 1; }

  bool is_counted(CommKey comm, Rank sender, Rank receiver, int64_t tag) const;
  bool is_whole(Rank rank) const { return whole_[static_cast<size_t>(rank)] != 0; }
  // No receive of a rank twice, and none that another of its ends contains by `is_any_comm`.
  const std::vector<OpenEnd>& of(Rank rank) const { return of_[static_cast<size_t>(rank)]; }
  bool empty() const;

 private:
  void add_end(Rank rank, const MessageEnd& end);

  std::vector<std::vector<OpenEnd>> of_;  // by rank
  std::vector<uint8_t> whole_;
};

}  // namespace refrain::events
