// PairedAnew: a trace with lead endpoints, made fit for a replay: where members send to whom their
// lead's distance says, some messages lose their other end. Those ends are paired anew.
//
//   1. sends and receives of one channel (communicator, source, destination, tag) that are called
//      as often stay as they are
//   2. what is left is paired with the nearest rank of the communicator that has an end left,
//      called as often, with the same tag; else with another tag, which the receive takes over
//   3. an end without any partner goes to MPI_PROC_NULL
//   4. a receive gets room for the largest message of its channel
//
// Each signature of a rank counts as one end. The calls, their number and their order stay, so a
// rank waits for as many messages as before; whether ranks wait for each other in a circle is not
// looked at (`refrain replay --stall` ends such a replay).
#pragma once

#include <cstdint>
#include <string>

#include "format/trace_data.h"
#include "refrain/trace.h"

namespace refrain::events {

struct PairedAnew {
  format::TraceData data;  // without times of calls
  // Calls whose end is another one than before, that have none any more, and that got room.
  uint64_t paired = 0, left_out = 0, widened = 0;
  std::string why_not;  // it cannot be replayed all the same; empty: it can
  bool is_changed() const { return paired + left_out + widened > 0; }
};

// Folds grammars: takes time by ranks and signatures, and memory for the ends of all ranks.
PairedAnew pair_anew(const Trace& trace);
// The trace whose messages have both ends, with its times of calls, and what was changed; `data` is
// empty. Fails, with kUnsupported, where it cannot be replayed all the same, and where times cannot
// be read.
Result<Trace> paired_trace(const Trace& trace, PairedAnew& out);

}  // namespace refrain::events
