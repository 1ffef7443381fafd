// What the forward sweep tells whoever wants more of it than totals: messages with both of their
// ends, and single waits.
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
  // How long the receive was waited for that its send had not begun, or the send that its receive
  // was not posted, whatever is longer.
  uint64_t wait_ns = 0;
  // It was told before, with a shorter wait: its send was completed after its receive.
  bool is_again = false;
};

class Observer {
 public:
  virtual ~Observer() = default;
  // Every message when it is received; those that no call completes at the end. True: ends() is to
  // be told the same message with the calls that sent it, posted its receive and completed that.
  // Where nothing completed it, the last two are the same.
  virtual bool wants(const SeenMessage& message) = 0;
  virtual void ends(const SeenMessage& message, const SeenCall& sent, const SeenCall& posted,
                    const SeenCall& done) = 0;
  virtual void wait(Rank rank, uint32_t thread, uint64_t begin_ns, uint64_t end_ns) = 0;
};

}  // namespace refrain::analysis
