// Look: what of a trace cannot be made again, found without MPI and without making anything.
//
// One look at each signature that a rank uses: the grammars are not expanded.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "events/refusals.h"
#include "mpi/call_table.h"
#include "refrain/trace.h"

namespace refrain::replay::plan {

using events::Refusal;
using Refusals = std::vector<Refusal>;

struct LookOptions {
  std::vector<CallId> skipped;           // functions that are left out
  std::function<bool(CallId)> is_there;  // whether the target has it; empty: not known
};

// By function, in the order of their ids. O(signatures).
Refusals look(const Trace& trace, const LookOptions& options);

// Fails where ranks stand for others that made other calls: their messages have no other end
// (ErrorCode::kUnsupported).
Status check_ends(const Trace& trace);

// ", at app+0x12"; empty where the trace does not tell.
std::string place_of(const Trace& trace, DefinitionId site);
// Of a trace in which members have the calls of their leads, messages whose other end is somewhere
// else are paired anew (events/pairing/pair_anew.h), place by place where ranks would wait for each
// other in a circle else, and `said` gets a line with how many; it may be null.
// Other traces stay as they are. Fails as events::paired_trace() does.
Status pair_messages(Trace& trace, std::FILE* said);

// One line each: "refrain: run.rfn: cannot replay MPI_Abort (rank 0, 1 call, at app+0x12): it ends
// the job; --skip MPI_Abort leaves it out".
std::string refusal_lines(const Trace& trace, const Refusals& refusals);

}  // namespace refrain::replay::plan
