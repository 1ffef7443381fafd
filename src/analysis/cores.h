// Cores and the ranks that share them: can every rank have a core for itself?
//
// A rank that is ready to run but has no core stands still, and other ranks wait for it. On a
// timeline this looks like a slow rank. A trace does not have the duration of such waiting, but its
// affinity masks give a limit: if n ranks may use c cores, at most c of them run at any time, so a
// rank that always wants to run does so c / n of the time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "refrain/trace.h"

namespace refrain::analysis {

// Hosts that are alike: as many cores, ranks with the same affinity masks.
struct HostKind {
  std::vector<uint64_t> hosts;  // indices into RunInfo::hosts, ascending
  uint64_t cores = 0;           // of each host, that are online
  uint64_t usable_cores = 0;    // those that at least one of the ranks may run on
  uint64_t ranks = 0;           // on each host
  // The ranks of each host that have to share their cores with more ranks than there are cores.
  uint64_t crowded_ranks = 0;
  uint64_t crowded_cores = 0;  // that these may run on
  // The share of the time of all its ranks that waiting for a core may be, at most.
  double most_waiting = 0;
};

struct CoreUse {
  std::vector<HostKind> kinds;  // by their first host; empty: nothing is known
  uint64_t crowded_ranks = 0;   // on all hosts
  double most_waiting = 0;      // the same share, of the time of all ranks whose place is known
  // Of all ranks; none where nobody has counted them: a trace that came before MPI_Finalize.
  std::optional<uint64_t> involuntary_switches;
  bool is_crowded() const { return crowded_ranks > 0; }
};

CoreUse core_use(const Trace& trace);

}  // namespace refrain::analysis
