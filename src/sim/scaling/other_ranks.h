// at_ranks(): the run on another number of ranks, from three runs of the same program.
//
// The three traces must have the same structure: as many definitions, signatures, grammars and
// groups, alike but for numbers. Each number (operands of expressions, members of communicators and
// groups, rows of tables, counts of loops, lengths of arrays) is followed (follow.h). What follows
// no rule ends with `unsupported`, which names the first signature, or loop, or list.
//
// The result is a trace without times of calls. Computation is the mean gap before the calls of a
// signature, where all three know that (`record --gaps`, or times of calls), else the mean time of
// a group's ranks outside of MPI; either follows c N^e. Parameters of MPI_Init are those of the
// first run. Threads: any; memory: a rank's totals for each rank.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "refrain/trace.h"

namespace refrain::sim {

// Usage errors: not three traces, of other programs, or of as many ranks.
base::Result<Trace> at_ranks(const std::vector<Trace>& traces, uint64_t ranks);

}  // namespace refrain::sim
