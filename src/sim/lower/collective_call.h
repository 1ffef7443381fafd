// Collective calls of a trace as the algorithms of sim/collectives take them.
#pragma once

#include <cstdint>
#include <memory>

#include "events/op.h"
#include "refrain/calls.h"
#include "refrain/trace.h"
#include "sim/collectives/collective.h"
#include "sim/lower/neighbours.h"
#include "sim/machine/machine.h"

namespace refrain::sim {

struct PreparedCollective {
  CollectiveCall call;
  const Algorithm* algorithm = nullptr;           // nullptr: of a neighbourhood
  const Neighbours::Lists* neighbours = nullptr;  // of a neighbourhood collective
  std::unique_ptr<BlockSizes> blocks;             // where call.blocks points to
  uint64_t formula_ns = 0;                        // of an analytic one
  bool is_analytic() const { return algorithm != nullptr && algorithm->step == nullptr; }
  // As a StepFunction does it.
  bool step(uint32_t number, Step& out) const;
};

// What a rank does in a call whose action is kCollective: with the algorithm of the machine's first
// rule that fits, or of its preset. Calls that make communicators and windows gather 8 bytes of
// each rank; those that free windows, and fences, are barriers. Calls on inter-communicators are
// analytic, with the ranks of both groups. `call` stays in place as long as the result.
PreparedCollective prepare_collective(const Trace& trace, const Machine& machine,
                                      const events::Op& op, const Signature& call);

// The same of a neighbourhood collective: all blocks at once. The lists outlive the result.
PreparedCollective prepare_neighbours(const Trace& trace, const events::Op& op,
                                      const Signature& call, const Neighbours::Lists& lists);

// Of a collective by its formula.
Hockney hockney_costs(const Machine& machine, uint64_t bytes);

}  // namespace refrain::sim
