// Wait states and their causes, the critical path, and efficiencies.
//
//   events::TraceCalls calls(trace);
//   auto result = waits::wait_states(trace, calls, {});
//
// One pass over all locations at once, in the order of time: begins and ends of calls are merged,
// so that at a call's end everything that could have kept it is known. What stays in memory are the
// messages and collectives that are under way, the totals, and a bounded part of the log; the rest
// of the log is in a temporary file (SpillLog), which two backward sweeps read: one for the causes,
// one for the critical path. Definitions are in docs/waits.md.
//
// Ideas: F. Wolf and B. Mohr (EXPERT), M. Geimer et al. (Scalasca) for the patterns; D. Boehme et
// al., "Identifying the root causes of wait states in large-scale parallel applications" (ICPP
// 2010) for the delays, and "Scalable critical-path based performance analysis" (IPDPS 2012); the
// POP Centre of Excellence for the efficiencies; R. Rabenseifner's controlled logical clock for the
// repair of times.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/observer.h"
#include "analysis/waits/pattern.h"
#include "analysis/waits/vocabulary.h"
#include "analysis/window.h"
#include "reader/source_paths.h"
#include "refrain/trace.h"

namespace refrain::analysis::waits {

struct Options {
  uint64_t memory_bytes = uint64_t{256} << 20;  // of the log
  uint64_t most_messages = 8'000'000;           // under way at a time
  uint64_t most_collectives = 1'000'000;
  // A message may arrive so much before it was sent before it counts as missing.
  uint64_t patience_ns = 1'000'000'000;
  // What counts of waits, useful time, calls and the critical path; what is before and behind it is
  // only looked at for what it explains. Counts of what is missing or repaired are of the run.
  Window window;
  // Call paths that count as one; nullptr: none.
  const reader::SourcePaths* paths = nullptr;
  // The calls behind a number: the `explain_count` longest waits of a pattern (and what it
  // contains), of a rank (-1: all) and of some call paths (none: all).
  std::optional<Pattern> explain;
  Rank explain_rank = -1;
  std::vector<DefinitionId> explain_paths;
  size_t explain_count = 0;
  Observer* observer = nullptr;  // is told messages and waits on the way
  CommTable* comms = nullptr;    // whose keys it is told; nullptr: those of another table
};

// Time lost in one pattern, at one call path, by one rank.
struct Severity {
  Pattern pattern = Pattern::kAll;  // the innermost; those that contain it follow from it
  DefinitionId path = kNoDefinition;
  CallId call = 0;
  Rank rank = 0;
  uint64_t ns = 0;
  uint64_t count = 0;
};

// What waits go back to: something that a rank did longer than those that waited for it. It is the
// time from one MPI call to the next, or, where is_call says so, one call: from and to are then the
// same. They are also the same for the time from a call to its next one, in a loop.
struct Delay {
  Pattern pattern = Pattern::kAll;  // of the waits
  Rank rank = 0;                    // -1: not known
  DefinitionId from_path = kNoDefinition, to_path = kNoDefinition;
  CallId from_call = 0, to_call = 0;  // 0: begin of the rank
  bool is_call = false;
  double short_term_ns = 0;  // waits for this rank
  double long_term_ns = 0;   // waits for others, that waited for it
};

struct CriticalPart {
  Rank rank = 0;
  DefinitionId from_path = kNoDefinition, to_path = kNoDefinition;
  CallId from_call = 0, to_call = 0;  // as in Delay
  uint64_t ns = 0;
  bool is_call = false;
};

// The largest cause of the waiting in one pattern at one call path.
struct Cause {
  Pattern pattern = Pattern::kAll;
  DefinitionId path = kNoDefinition;
  CallId call = 0;
  Delay delay;  // costs are those of this waiting
};

// What explains much of all waiting: a stretch in which a rank spends more time than others.
struct Culprit {
  Delay stretch;        // of all patterns together
  double group_ns = 0;  // what the stretch costs on all ranks
  // ... and on those that cost much in it, of which a few are told: the sum, and how many.
  double much_ns = 0;
  uint64_t much_ranks = 0;
  uint64_t iterations = 0;  // how often it made others wait, of
  uint64_t passes = 0;      // ... so many times that the rank went through it
  double mean_ns = 0;       // that the rank spends in it each time, without waiting
  double slow_ns = 0;       // the same of the times that are in `iterations`
  double others_ns = 0;     // the same for ranks that are no culprits here, nor as slow
  uint64_t others = 0;      // so many ranks
  // No culprits, and yet as slow: of ranks that are late together, only the last is waited for. How
  // many, and the first of them.
  uint64_t as_slow_ranks = 0;
  std::vector<Rank> as_slow;
  // A call whose size, datatype and operation are the same each time.
  bool is_given_alike = false;

  // Mean of the times that are not in `iterations`.
  double rest_ns() const {
    const auto all = static_cast<double>(passes), slow = static_cast<double>(iterations);
    return passes > iterations ? std::max(0.0, (mean_ns * all - slow_ns * slow) / (all - slow)) : 0;
  }
};

// Each a share of 1, and 0 where there is nothing to tell.
struct Efficiency {
  // From the first end of MPI_Init to the last begin of MPI_Finalize, less RecorderTime, and at
  // least ideal_ns.
  uint64_t runtime_ns = 0;
  uint64_t ideal_ns = 0;  // the same on a network without latency and with any bandwidth
  // In the program. The mean is over the locations, each for the time that it lives; the most is
  // that of a location, and at least the mean.
  double useful_mean_ns = 0, useful_max_ns = 0;
  double load_balance = 0, serialisation = 0, transfer = 0, communication = 0, parallel = 0;
};

struct Counts {
  uint64_t calls = 0;
  uint64_t messages = 0, collectives = 0, waits = 0;
  uint64_t unmatched_sends = 0, unmatched_receives = 0, incomplete_collectives = 0;
  uint64_t unknown_messages = 0;    // wildcard receives whose message the trace does not tell
  uint64_t other_world = 0;         // messages with processes that are not in the trace
  uint64_t unknown_requests = 0;    // completed, and never made
  uint64_t unknown_topologies = 0;  // calls of neighbourhoods that the trace does not tell
  uint64_t unknown_groups = 0;      // epochs of one-sided communication with a group not known
  // Arrived before they were sent, or their synchronous send returned before they could.
  uint64_t repaired_messages = 0;
  uint64_t repaired_ns_most = 0;  // by how much, at most
  uint64_t backward_times = 0;    // calls that ended before the one before them had
  uint64_t negative_durations = 0;
  uint64_t dropped = 0;  // beyond the limits of Options
  uint64_t open_messages_most = 0;
  uint64_t log_bytes = 0, spilled_bytes = 0;
  uint64_t unassigned_ns = 0;  // waits without a known cause
};

struct Explained {
  Rank rank = 0;
  uint32_t thread = 0;
  uint64_t seq = 0;
  DefinitionId path = kNoDefinition;
  CallId call = 0;
  Pattern pattern = Pattern::kAll;
  uint64_t begin_ns = 0, end_ns = 0;  // of the call
  uint64_t wait_ns = 0;
  Rank partner = -1;  // -1: not known
  uint64_t partner_seq = 0;
  DefinitionId partner_path = kNoDefinition;
  CallId partner_call = 0;
  std::optional<Delay> delay;  // the largest part of its cause; costs are of this wait
};

// Of all threads together.
struct RankTime {
  uint64_t total_ns = 0;   // from the first begin to the last end of each
  uint64_t useful_ns = 0;  // in the program: neither in MPI nor in the recorder
  uint64_t waiting_ns = 0;
  uint64_t recorder_ns = 0;  // the recorder's own work between the calls
};

// The recorder's own work between calls, and what of the run was due to it. It is a category of its
// own: no part of useful time, of waits and their causes, of the critical path and of efficiencies.
struct RecorderTime {
  uint64_t work_ns = 0;      // of all ranks
  double waiting_ns = 0;     // that ranks waited for others while the recorder worked there
  uint64_t critical_ns = 0;  // that would have been on the critical path
  uint64_t runtime_ns = 0;   // of that, what the runtime of the efficiencies lacks
};

struct WaitStates {
  std::vector<Severity> severities;  // by pattern, then by time, the longest first
  std::vector<Delay> delays;         // by cost, the highest first
  std::vector<Cause> causes;         // by pattern and call path
  // By stretch, what it costs on all ranks, then by rank. Empty where no stretch explains a tenth.
  std::vector<Culprit> culprits;
  std::vector<CriticalPart> critical_path;  // by time, the longest first
  uint64_t critical_ns = 0;
  Efficiency efficiency;
  Counts counts;
  std::vector<RankTime> ranks;
  RecorderTime recorder;
  double total_ns = 0;  // sum of RankTime::total_ns: what percentages are of
  std::vector<Explained> explained;

  // Of a pattern and all that it contains.
  uint64_t ns_of(Pattern pattern) const;
};

// Fails, with kUnsupported, when the calls have no times.
Result<WaitStates> wait_states(const Trace& trace, CallSource& source, const Options& options);

// The forward sweep alone, for its observer. The times need not be real: each location's are in
// order.
Counts observe(const Trace& trace, CallSource& source, const Options& options);

}  // namespace refrain::analysis::waits
