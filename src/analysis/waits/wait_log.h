// The log that the forward sweep writes for the backward sweeps: calls that communicate, and waits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/waits/messages.h"
#include "analysis/waits/pattern.h"
#include "analysis/waits/store/spill_log.h"

namespace refrain::analysis::waits {

using WaitId = uint64_t;
inline constexpr WaitId kNoWait = UINT64_MAX;

// A call, in the order of begins over all locations. Calls that ask in vain, one after the other at
// one place, are one node, from the begin of the first to the end of the last.
struct Node {
  uint64_t seq = 0;
  uint64_t begin = 0, end = 0;  // repaired
  WaitId waits = kNoWait;       // the last of its waits
  uint32_t location = 0;
  PlaceId place = 0;
  uint32_t back = 0;  // so many nodes before this one is the location's previous one
  // ns that it made others wait: the time before the call, and in it.
  float cost_before = 0, cost_in = 0;
  float between = 0;  // of several calls that are one node: the share of its time between them
};

// The call before, of the same location. A thread's first call follows its rank's last one.
inline NodeId previous_of(NodeId id, const Node& node) {
  return node.back == 0 ? kNoNode : id - node.back;
}

// A wait, in the order of ends. It ends when the causing call begins, or, for a lock, ends.
struct Wait {
  NodeId waiter = kNoNode;  // the call that waits; of a poll, the first that asked in vain
  NodeId causer = kNoNode;  // kNoNode: not known
  uint64_t begin = 0, end = 0;
  // What was waited of that: of a poll the calls without the time between them. 0: no pattern, but
  // the path of causes goes on at the causer.
  uint64_t ns = 0;
  WaitId earlier = kNoWait;  // of the same call
  Pattern pattern = Pattern::kAll;
};

// Work of the recorder between two calls of a location.
struct OwnSpan {
  uint64_t begin = 0, end = 0;  // repaired; it begins where a call ends
};

struct WaitLog {
  WaitLog(uint64_t memory_bytes, bool keeps)
      : nodes(memory_bytes / 2, keeps), waits(memory_bytes / 2, keeps) {}
  // The end of the recorder's work that began at `time`; `time` where none did.
  uint64_t end_of_own_work(uint32_t location, uint64_t time) const {
    if (location >= own_work.size()) return time;
    const std::vector<OwnSpan>& spans = own_work[location];
    const auto at =
        std::lower_bound(spans.begin(), spans.end(), time,
                         [](const OwnSpan& s, uint64_t begin) { return s.begin < begin; });
    return at != spans.end() && at->begin == time ? at->end : time;
  }
  SpillLog<Node> nodes;
  SpillLog<Wait> waits;
  std::vector<std::vector<OwnSpan>> own_work;  // by location, ascending
};

}  // namespace refrain::analysis::waits
