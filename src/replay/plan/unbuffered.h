// Unbuffered: the calls of all ranks in an order that MPI could make them in, where no send
// completes before its receive is posted and every collective waits for all.
//
// MPI may buffer standard sends or not (MPI 4.1, section 3.5), so a program that was good may stop
// for ever under another MPI, or with longer messages. When no rank can go on, the shortest of the
// sends that ranks wait for is buffered. What can be matched does not depend on the order in which
// ranks go on; therefore the longest message that was buffered is the least that has to be. Where
// no send is left that could be buffered, the calls end for ever in any MPI.
//
// Loops are not expanded: where all ranks are found in the same state as before, but for the
// iterations of the loops of their grammars, the iterations that remain are like those between.
//
// What the trace does not tell never makes a rank wait: windows, files, processes of other worlds,
// neighbours (collectives of neighbourhoods wait for nobody here).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "refrain/trace.h"

namespace refrain::replay::plan {

// Whether the ranks of a group leave a call out, both ends of whose messages go.
using LeavesOut = std::function<bool(GroupId, SignatureId)>;

// A call of a rank: where, and as what.
struct CallPlace {
  Rank rank = 0;
  uint64_t seq = 0;  // number of the call in its rank
  CallId call = 0;
  DefinitionId site = kNoDefinition;
};

struct Unbuffered {
  std::string why_not;  // the end of a sentence: it was not looked at; empty: it was

  // ---- ranks that cannot end, whatever is buffered ----
  uint64_t waiting_ranks = 0;
  std::vector<CallPlace> waiting;  // the lowest of them, at most kMostShown
  // Some receive's message is not known: ranks may wait here, and yet end in a replay.
  bool is_guess = false;

  // ---- what must be buffered ----
  uint64_t sends = 0;           // messages
  uint64_t longest_bytes = 0;   // of these
  std::vector<uint64_t> bytes;  // by rank: at most so many of its messages' bytes at a time
  std::optional<CallPlace> first;
  uint64_t collectives = 0;  // calls that must not wait for all

  // ---- collectives whose ranks call different functions or name different roots ----
  uint64_t disagreements = 0;
  CallPlace one, other;  // of the first

  // ---- at the end ----
  uint64_t sends_left = 0, receives_left = 0;  // without their other ends
  CallPlace send_left, receive_left;           // of the lowest rank that has one

  uint64_t calls_walked = 0;

  static constexpr size_t kMostShown = 16;
  uint64_t most_bytes() const;  // of all ranks
  Rank most_bytes_rank() const;
};

struct UnbufferedOptions {
  std::vector<CallId> skipped;               // functions that are left out
  LeavesOut leaves_out;                      // calls that are left out besides; empty: none
  uint64_t most_calls = 20000000;            // that are walked
  uint64_t most_memory = uint64_t{1} << 31;  // bytes, about
  bool expands_loops = false;                // for tests
};

// Takes memory for the signatures of all ranks.
Unbuffered run_unbuffered(const Trace& trace, const UnbufferedOptions& options);

}  // namespace refrain::replay::plan
