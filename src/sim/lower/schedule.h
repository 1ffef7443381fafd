// Collectives as messages, for replays that have no collectives, or none on subsets of the ranks.
//
// Algorithms are the textbook ones: dissemination for barriers, binomial trees for broadcasts and
// reductions (R. Thakur, R. Rabenseifner, W. Gropp: "Optimization of collective communication
// operations in MPICH"), Bruck's for allgather, all partners at once for all others. Every rank
// derives its part from its own parameters alone; MPI requires that they are consistent.
#pragma once

#include <cstdint>
#include <vector>

#include "events/op.h"
#include "refrain/calls.h"
#include "refrain/trace.h"

namespace refrain::sim {

struct SchedulePart {
  bool sends = false;
  int64_t peer = 0;  // rank in the communicator
  uint64_t bytes = 0;
};
// Messages at once; the next phase begins when they are done.
using Phase = std::vector<SchedulePart>;

// What a rank does in a collective call on an intra-communicator. Empty for a rank that has no
// part.
std::vector<Phase> schedule(const Trace& trace, const events::Op& op, const Signature& call);

}  // namespace refrain::sim
