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
// rank waits for as many messages as before; but ranks may wait for each other in a circle, where
// what one sends in an early phase is what another receives in a late one. Therefore there is a
// second way, `by_place`, which comes before all of this: the two ends of calls that send and
// receive at once (MPI_Sendrecv) are paired only with those that have the same place in their
// ranks, that is the same number of their signature, by its first call. Ranks of one structure come
// to such places in the same order, so phase meets phase. The third way, `by_order`, does the same
// with all ends: the n-th send of a rank meets the n-th receive of another one (MPI_Irecv, MPI_Send
// and MPI_Wait with a partner, phase by phase). Both move more ends than needed where ranks are
// unlike; who can find circles (replay/plan) asks for them, in turn, when the first way has one.
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

enum class Pairing : uint8_t { kByChannel, kByPlace, kByOrder };

// Folds grammars: takes time by ranks and signatures, and memory for the ends of all ranks.
PairedAnew pair_anew(const Trace& trace, Pairing how = Pairing::kByChannel);
// The trace whose messages have both ends, with its times of calls, and what was changed; `data` is
// empty. Fails, with kUnsupported, where it cannot be replayed all the same, and where times cannot
// be read.
Result<Trace> paired_trace(const Trace& trace, PairedAnew& out, Pairing how = Pairing::kByChannel);

}  // namespace refrain::events
