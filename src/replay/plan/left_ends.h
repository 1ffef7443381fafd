// Both ends of messages that `--skip FUNCTION` leaves out: a receive whose send is not made would
// wait for ever.
#pragma once

#include <unordered_set>
#include <vector>

#include "events/channel.h"
#include "events/op.h"
#include "refrain/trace.h"

namespace refrain::replay::plan {

// All messages of a channel go, where a skipped function makes one of its ends: which of them have
// their other end there depends on the order of calls. Receives from anybody that complete later
// stay, and so do persistent requests.
class LeftEnds {
 public:
  // Looks at all calls of all ranks, unless nothing is skipped. `comms` outlives it, and gives the
  // keys of the ops that it is asked about.
  LeftEnds(const Trace& trace, const std::vector<CallId>& skipped, events::CommTable& comms);

  bool empty() const { return channels_.empty(); }
  // Whether all messages of the call go.
  bool has(const events::Op& op, Rank me) const;

 private:
  std::unordered_set<events::ChannelKey, events::ChannelHash> channels_;
};

}  // namespace refrain::replay::plan
