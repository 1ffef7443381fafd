// What the forward sweep leaves to the backward ones: calls that communicate, and waits.
#pragma once

#include <cstdint>

#include "analysis/waits/messages.h"
#include "analysis/waits/pattern.h"
#include "analysis/waits/spill_log.h"

namespace refrain::analysis::waits {

using WaitId = uint64_t;
inline constexpr WaitId kNoWait = UINT64_MAX;

// A call, in the order of begins over all locations.
struct Node {
  uint64_t seq = 0;
  uint64_t begin = 0, end = 0;  // repaired
  NodeId previous = kNoNode;    // of the same location
  WaitId waits = kNoWait;       // the last of its waits
  uint32_t location = 0;
  PlaceId place = 0;
};

// A wait, in the order of ends. It ends when the causing call begins, or, for a lock, ends.
struct Wait {
  NodeId waiter = kNoNode;
  NodeId causer = kNoNode;  // kNoNode: not known
  uint64_t begin = 0, end = 0;
  uint64_t since_waiter = 0, since_causer = 0;  // when the two ranks synchronised before
  WaitId earlier = kNoWait;                     // of the same call
  double cost = 0;                              // of other waits that go back to this one
  Pattern pattern = Pattern::kAll;
};

struct WaitLog {
  explicit WaitLog(uint64_t memory_bytes) : nodes(memory_bytes / 2), waits(memory_bytes / 2) {}
  SpillLog<Node> nodes;
  SpillLog<Wait> waits;
};

}  // namespace refrain::analysis::waits
