// Time and bytes of a run's MPI calls, by function, call site, call path and rank.
//
// Folds over the grammars: each rule is evaluated once and multiplied, so the cost follows the size
// of the trace and the number of ranks, and a run of 10^9 calls costs as much as one of 10^3. The
// questions are those of mpiP (J. Vetter, C. Chambreau): time in MPI per task, top call sites by
// time and by bytes sent.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/window.h"
#include "events/buffers/transfers.h"
#include "mpi/call_table.h"
#include "refrain/trace.h"

namespace refrain::analysis {

// Totals of some calls over all ranks.
struct CallTotals {
  uint64_t calls = 0;
  uint64_t failed = 0;  // of these: did not return MPI_SUCCESS
  uint64_t parts = 0;   // of a window: calls of which some lies in it; times are of these
  double time_ns = 0;   // sum of their durations
  uint64_t min_ns = 0, max_ns = 0;
  uint64_t bytes = 0;     // handed in to be sent or written, see transfers.h
  uint64_t messages = 0;  // point-to-point and one-sided messages of those bytes
  uint64_t unsized = 0;   // transfers whose bytes the trace does not tell, counted as 0

  double mean_ns() const {
    const uint64_t of = parts > 0 ? parts : calls;
    return of == 0 ? 0 : time_ns / static_cast<double>(of);
  }
};

// Calls of one function. Rows are sorted by time, then by number of calls, then by name or number.
struct FunctionRow {
  CallId call = 0;
  CallTotals totals;
};

// Calls of one function at one place of the program; kNoDefinition: the place is not known.
struct SiteRow {
  DefinitionId site = kNoDefinition;
  CallId call = 0;
  CallTotals totals;
};

// Calls of one kind of function: point-to-point, collective, ...
struct CallGroupRow {
  mpi::CallGroup group{};
  CallTotals totals;
};

struct RankRow {
  Rank rank = 0;
  uint64_t calls = 0;
  uint64_t in_mpi_ns = 0;
  uint64_t outside_ns = 0;  // between MPI_Init and MPI_Finalize, not in MPI nor in the recorder
  uint64_t recorder_in_run_ns = 0;  // the recorder's own work between the calls
  uint64_t involuntary_switches = 0;
  uint64_t bytes = 0;
  uint64_t recorder_ns = 0;            // that recording took
  uint64_t recorder_memory_bytes = 0;  // the most that the recorder held; 0: neither is known
};

// How a number spreads over the ranks. imbalance = max / mean - 1: 0 when all are equal, 1 when the
// largest is twice the mean.
struct Spread {
  double min = 0, mean = 0, max = 0;
  double imbalance() const { return mean > 0 ? max / mean - 1 : 0; }
};

// Sizes of transfers: bucket 0 holds those of 0 bytes, bucket i those of [2^(i-1), 2^i) bytes.
struct SizeBucket {
  uint64_t transfers = 0;
  uint64_t bytes = 0;
};
using SizeHistogram = std::array<SizeBucket, 65>;

struct Profile {
  std::vector<FunctionRow> functions;
  std::vector<SiteRow> sites;
  std::vector<SiteRow> paths;  // by call path: Trace::call_path(row.site)
  std::vector<CallGroupRow> groups;
  std::vector<RankRow> ranks;  // by rank
  CallTotals all;
  Spread calls, in_mpi_ns, outside_ns;  // over the ranks
  double run_ns = 0;                    // sum over the ranks of the time in and outside MPI
  // What shares are of. A call inside of another one counts in both, and times of ranks are
  // rounded: all calls may take a little longer than the run.
  double whole_ns() const { return std::max(run_ns, all.time_ns); }
  double share_of_run(double ns) const { return run_ns > 0 ? ns / whole_ns() : 0; }
  std::array<SizeHistogram, events::kTransferKinds> sizes{};  // by TransferKind
  std::optional<Window> window;                               // that it is of; nothing: the run
  uint64_t untimed = 0;  // calls without a time, which are in no window
};

// Cannot fail: a Trace is checked when it is opened. O(signatures of all groups times their ranks).
Profile profile(const Trace& trace);

// Nanoseconds of the run from the end of MPI_Init to the begin of MPI_Finalize, of the longest
// rank: what simulations predict. That rank is the one that began first, and so was in MPI_Init for
// the longest time, and in MPI_Finalize for no less than the rank that came last. The whole run
// where these calls are not in the trace.
double time_between_ns(const Trace& trace);

// Of what lies in a window (analysis/window.h). What recording cost is not known of a window. Reads
// the times of calls; fails where the trace has none, or they cannot be read.
Result<Profile> profile(const Trace& trace, const Window& window);

}  // namespace refrain::analysis
