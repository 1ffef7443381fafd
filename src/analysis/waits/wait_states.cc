#include "analysis/waits/wait_states.h"

#include "analysis/waits/backward.h"
#include "analysis/waits/sweep.h"

namespace refrain::analysis::waits {

uint64_t WaitStates::ns_of(Pattern pattern) const {
  uint64_t sum = 0;
  for (const Severity& s : severities)
    if (contains(pattern, s.pattern)) sum += s.ns;
  return sum;
}

Result<WaitStates> wait_states(const Trace& trace, CallSource& source, const Options& options) {
  if (!source.has_times())
    return base::unsupported(
        "the trace has no times of single calls, which waits are made of: record with "
        "--timing exact or bins:0.02",
        trace.name());
  if (const Status good = source.check(); !good.ok()) return good.error();
  WaitStates out;
  Sweep sweep(trace, source, options);
  sweep.run();
  sweep.fill(out);
  // The order matters: causes take from the severities what the recorder itself has caused, and the
  // efficiencies need what the critical path has of the recorder's work.
  find_causes(sweep, options, out);
  find_critical_path(sweep, out);
  set_efficiencies(out);
  WaitLog& log = sweep.log();
  out.counts.log_bytes = log.nodes.size() * sizeof(Node) + log.waits.size() * sizeof(Wait);
  out.counts.spilled_bytes = log.nodes.file_bytes() + log.waits.file_bytes();
  return out;
}

// For callers that want what the observer is told and nothing else: without the backward sweeps,
// which find causes.
Counts observe(const Trace& trace, CallSource& source, const Options& options) {
  WaitStates out;
  Sweep sweep(trace, source, options);
  sweep.run();
  sweep.fill(out);
  return out.counts;
}

}  // namespace refrain::analysis::waits
