// Prefix: how far the calls of a trace can be replayed whose ranks do not all reach MPI_Finalize,
// such as that of a job that died.
//
// The longest prefix of each rank's calls such that all of them together can end: each receive has
// its send in it, each collective all its ranks. Found by letting all ranks go on for as long as
// they can; it does not depend on their order. Sends wait for nobody: what is sent and not received
// is listed. MPI_Abort ends a prefix before it. So do a nonblocking collective that not all ranks
// begin, and a call that sends and waits for a message that does not come. Pure: no MPI. Windows,
// files and processes of other worlds make nobody wait.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "refrain/trace.h"

namespace refrain::replay {

struct Prefix {
  std::vector<uint64_t> calls;  // of each rank, from its first one
  // A message that is sent and not received. `source`: in the communicator.
  struct Message {
    Rank to = 0;
    DefinitionId comm = kNoDefinition;
    int64_t source = 0, tag = 0;
  };
  std::vector<Message> in_transit;  // in the order of their sends, of each sender
  // Of each rank: receives that no call of the prefix completes, although their messages are sent
  // in it, by the signatures that made the requests. They end; others would wait forever.
  std::vector<std::set<SignatureId>> arriving;
};

// Whether some rank that calls MPI_Init does not reach MPI_Finalize. O(signatures).
bool ends_early(const Trace& trace);

// Of ranks with one thread each. O(calls), a few times.
Prefix consistent_prefix(const Trace& trace);

}  // namespace refrain::replay
