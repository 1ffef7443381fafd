// Collectives as messages, for replays that have no collectives, or none on subsets of the ranks.
//
// Which algorithm a collective gets is fixed, unlike in simulations: dissemination for barriers,
// binomial trees for broadcasts and reductions, a chain for scans, Bruck's for allgather (all of
// them by the steps of sim/collectives), all partners at once for all others. Every rank derives
// its part from its own parameters alone; MPI requires that they are consistent. Unlike Step,
// receives have sizes too, because these formats state them.
#pragma once

#include <cstdint>
#include <vector>

#include "events/op.h"
#include "refrain/calls.h"
#include "refrain/trace.h"
#include "sim/collectives/collective.h"

namespace refrain::sim {

// Messages at once; the next phase begins when they are done. Peers are ranks in the communicator.
using Phase = std::vector<Part>;

// What a rank does in a collective call on an intra-communicator. Empty for a rank that has no
// part.
std::vector<Phase> schedule(const Trace& trace, const events::Op& op, const Signature& call);

}  // namespace refrain::sim
