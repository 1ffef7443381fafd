// The dry run: what can be told of a replay without making a call, and without MPI.
#pragma once

#include <string>
#include <vector>

#include "refrain/trace.h"
#include "replay/plan/look.h"
#include "replay/plan/message_counts.h"
#include "replay/plan/needs.h"
#include "replay/plan/unbuffered.h"

namespace refrain::replay::plan {

struct DryRun {
  Refusals refused;
  MessageCounts messages;
  Unbuffered order;
  MemoryNeed memory;
  std::vector<FileNeed> files;
  std::vector<FunctionNeed> functions;

  // Ranks wait for ever, whatever MPI buffers.
  bool never_ends() const { return order.waiting_ranks > 0 && !order.is_guess; }
  bool can_be_replayed() const { return refused.empty() && !never_ends(); }
};

// Takes memory for the signatures of all ranks. Where something is refused anyway, order and
// messages are not looked at.
DryRun dry_run(const Trace& trace, const LookOptions& options, UnbufferedOptions limits = {});

// What a replay may stumble over, one line each, without "refrain:" and the name of the trace: so
// many bytes must be buffered, messages have one end, collectives disagree.
std::vector<std::string> warnings(const Trace& trace, const DryRun& run);
// One line for each function that is refused, and for each rank that waits for ever, as
// refusal_lines() makes them.
std::string refused_lines(const Trace& trace, const DryRun& run);

std::string dry_run_text(const Trace& trace, const DryRun& run);
std::string dry_run_json(const Trace& trace, const DryRun& run);

}  // namespace refrain::replay::plan
