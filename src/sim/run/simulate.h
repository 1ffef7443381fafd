// simulate(): how long a recorded run takes on a machine.
//
// Errors: those of the machine (usage), more calls than allowed that are not left out, or more
// messages on their way at once than memory is given for (unsupported). A deadlock is a result.
// Threads: the trace may be used by others meanwhile; the simulation itself is one thread, or two
// with `reads_ahead`.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "events/by_rank/decoded_ranks.h"
#include "refrain/trace.h"
#include "sim/engine/engine.h"
#include "sim/lower/compute_times.h"
#include "sim/machine/machine.h"

namespace refrain::sim {

enum class Contention : uint8_t { kNone, kFair };
// Of receives from any source and of any tag.
enum class Matching : uint8_t { kRecorded, kSimulated };

struct SimulateOptions {
  Contention contention = Contention::kFair;  // kFair: where the topology has links
  Matching matching = Matching::kRecorded;
  // Above 0: iterations of the main loop may be left out (skip.h), with an error of at most this
  // share of what the rank computes that computes most.
  double skip_share = 0;
  uint64_t most_calls = 10'000'000'000;
  const ComputeTimes* times = nullptr;  // nullptr: those of the trace
  std::vector<double> factors;          // of the computation of each rank; empty: 1
  std::string folder;                   // for temporary files; empty: the current one
  // The trace is read by a thread of its own, where that changes nothing (fill_ahead.h).
  bool reads_ahead = false;
  // Of the trace, for several simulations one after the other: what one has decoded the next one
  // has. nullptr: this one is by itself.
  events::DecodedRanks* decoded = nullptr;
  std::function<void(uint64_t done, uint64_t all)> progress;
  // When each call begins and ends on this machine: rank, thread, number of the call; ns since the
  // end of MPI_Init. Calls of a thread come in order.
  std::function<void(Rank, uint32_t thread, uint64_t seq, Time begin, Time end)> on_call;
};

// Someone who waits for ever.
struct WaitingRank {
  Rank rank = 0;
  uint32_t thread = 0;
  uint64_t seq = 0;  // of its call
  std::string call;  // "MPI_Recv"
  DefinitionId site = kNoDefinition;
  Time since_ns = 0;
};

struct Simulation {
  Time predicted_ns = 0;  // the longest rank, from the end of MPI_Init to the begin of MPI_Finalize
  std::vector<RankTimes> ranks;
  uint64_t calls = 0, events = 0, messages = 0;
  double seconds = 0;  // that the simulation took
  std::map<std::string, uint64_t> not_lowered;
  std::vector<EngineResult::Link> links;
  std::string compute_from;
  bool has_contention = false;
  Matching matching = Matching::kRecorded;
  uint64_t skipped_calls = 0;         // among `calls`
  Time skip_error_ns = 0;             // at most, with SimulateOptions::skip_share
  std::string not_skipped;            // why nothing could be left out, where that was asked for
  uint64_t matching_changed = 0;      // receives that took another message than in the recorded run
  std::vector<WaitingRank> deadlock;  // empty: there was none
};

Result<Simulation> simulate(const Trace& trace, const Machine& machine,
                            const SimulateOptions& options);

}  // namespace refrain::sim
