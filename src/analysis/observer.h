// Interface through which the forward sweep reports more than totals: messages with both ends, and
// single waits.
#pragma once

#include <cstdint>

#include "events/comms.h"

namespace refrain::analysis {

// A call, by its number on its location. Times are those of the sweep, repaired.
struct SeenCall {
  Rank rank = 0;
  uint32_t thread = 0;
  uint64_t seq = 0;
  uint64_t begin_ns = 0, end_ns = 0;
};

struct SeenMessage {
  events::CommKey comm = events::kNoComm;
  Rank sender = 0, receiver = 0;
  int64_t tag = 0;
  // The longer of two waits: of the receive until its send began, and of the send until its receive
  // was posted.
  uint64_t wait_ns = 0;
  // The message was reported before with a shorter wait: its send was completed after its receive.
  bool is_again = false;
};

class Observer {
 public:
  virtual ~Observer() = default;
  // Called for every message when it is received, and at the end for messages that no call
  // completed. Return true to get ends() for this message, with its send, its receive and the call
  // that completed the receive. If no call completed it, the last two are the same.
  virtual bool wants(const SeenMessage& message) = 0;
  virtual void ends(const SeenMessage& message, const SeenCall& sent, const SeenCall& posted,
                    const SeenCall& done) = 0;
  // Within the recorded times of its call, which the repair may have moved.
  virtual void wait(Rank rank, uint32_t thread, uint64_t begin_ns, uint64_t end_ns) = 0;
};

}  // namespace refrain::analysis
