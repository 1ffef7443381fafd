// Messages without another end, by counting the calls of each channel on the grammars.
//
// Channels whose ends cannot be counted are left out: see events/open_ends.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "refrain/trace.h"
#include "replay/plan/unbuffered.h"

namespace refrain::replay::plan {

// One sender and one receiver, in the world; one communicator and tag.
struct UnevenChannel {
  Rank source = 0, dest = 0;
  int64_t tag = 0;
  uint64_t sent = 0, received = 0;
  CallId call = 0;                    // of the side with more ends: a call that makes them
  DefinitionId site = kNoDefinition;  // where it stands
};

struct MessageCounts {
  std::string why_not;  // the end of a sentence: they were not counted; empty: they were
  uint64_t channels = 0;
  uint64_t sends_left = 0, receives_left = 0;
  std::vector<UnevenChannel> uneven;  // by sender, receiver and tag; at most kMostShown

  static constexpr size_t kMostShown = 16;
};

// O(signatures of all ranks). `skipped`: functions that are left out; `leaves_out`: calls that are
// left out besides.
MessageCounts count_messages(const Trace& trace, const std::vector<CallId>& skipped,
                             const LeavesOut& leaves_out = {});

// A line for each channel of `messages.uneven`.
std::vector<std::string> uneven_texts(const Trace& trace, const MessageCounts& messages);

}  // namespace refrain::replay::plan
