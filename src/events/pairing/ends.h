// Ends of messages: what the signatures of all ranks send and receive, to be changed and written
// back. For pair_anew.h.
#pragma once

#include <cstdint>
#include <vector>

#include "events/channel.h"
#include "events/comms.h"
#include "format/trace_data.h"
#include "refrain/trace.h"

namespace refrain::events {

// One end of the messages that a signature of a rank stands for.
struct End {
  Rank me = 0;
  uint32_t signature = 0;
  uint64_t place = 0;    // the signature's number in its rank, by the first call with it
  uint64_t order = 0;    // among the sends, or the receives, of its rank; from 1 on
  bool is_both = false;  // of a call that sends and receives, MPI_Sendrecv
  bool sends = false, is_fixed = false;  // fixed: what it takes is known from elsewhere
  events::CommKey comm = events::kNoComm;
  Rank peer = 0;
  int64_t tag = 0;
  uint64_t calls = 0;
  uint64_t bytes = 0, element_bytes = 0;  // of a receive: that there is room for
  DefinitionId context = kNoDefinition;
  // What becomes of it.
  bool is_moved = false, is_nobody = false;
  uint64_t elements = 0;  // 0: as they are

  events::ChannelKey channel() const {
    return sends ? events::ChannelKey{comm, me, peer, tag}
                 : events::ChannelKey{comm, peer, me, tag};
  }
};

// All ends of a trace but those at MPI_PROC_NULL. Folds grammars.
std::vector<End> find_ends(const Trace& trace);

// The trace with what has become of its ends, as `out`, without times of calls. Ranks of a group
// that have no partner in different places become groups of their own. False: a call does not say
// its partner in a way that can be changed.
bool write_ends(const Trace& trace, const std::vector<End>& ends, format::TraceData& out);

}  // namespace refrain::events
