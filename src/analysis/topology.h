// Who talks to whom, by kind of call: for each point-to-point function how often, how many bytes
// and how long each rank was in it for each other one. The topology module of the online-coupling
// paper (section IV) weighs the graph of a run in these three ways, for each kind of call.
//
// Computed on the grammars like profile.h, at the same cost.
#pragma once

#include <cstdint>
#include <vector>

#include "refrain/trace.h"

namespace refrain::analysis {

struct TopologyEdge {
  Rank source = 0, dest = 0;  // of the message, in the world
  // Calls of this kind that sent, received or completed such a message; of a start of several
  // persistent requests, each message.
  uint64_t hits = 0;
  uint64_t bytes = 0;  // handed to MPI to be sent, see transfers.h; 0 for receives and completions
  // In these calls: by the mean of each signature over all ranks, scaled so that the times of a
  // rank add up to its own total in MPI. A call for several messages is shared evenly.
  double time_ns = 0;
};

struct TopologyOfCall {
  CallId call = 0;
  std::vector<TopologyEdge> edges;  // by source, then dest
};

// Functions that have an edge, ascending. Partners of another world, and those of receives from any
// source that nothing else tells, are left out. Cannot fail.
std::vector<TopologyOfCall> topology(const Trace& trace);

}  // namespace refrain::analysis
