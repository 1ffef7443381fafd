// Totals per rank and function, and per pair of ranks, computed on the grammars in one pass over
// ranks and their signatures.
//
// In a trace without times of single calls, the times follow from the mean of each signature over
// all ranks, scaled so that the times of a rank add up to its own total in MPI, which is in the
// trace.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "events/buffers/transfers.h"
#include "events/comms.h"
#include "events/guarded_op.h"
#include "events/op.h"
#include "refrain/calls.h"
#include "refrain/trace.h"

namespace refrain::analysis {

struct Load {
  uint64_t calls = 0;
  uint64_t bytes = 0;  // handed in, see transfers.h
  double time_ns = 0;
};

struct RankLoads {
  std::vector<CallId> functions;         // that the run calls, ascending
  std::vector<std::vector<Load>> loads;  // by place in `functions`, then by rank
  // Time of sends and receives, and of their completions shared evenly among the messages that
  // each completes; by (source, dest). From means per signature.
  std::map<std::pair<Rank, Rank>, double> pair_ns;
};

using events::op_of;

class RankLoadFold {
 public:
  explicit RankLoadFold(const Trace& trace);

  // `ops` decodes for the reader's rank. Every rank once.
  void add(RankReader& reader, const std::vector<Trace::Occurrence>& occurrences,
           events::Decoder& ops);
  RankLoads take();

 private:
  const Trace& trace_;
  events::GraphDegrees graphs_;
  RankLoads out_;
  std::vector<uint32_t> place_of_;  // by signature: in `functions`
};

// Of all ranks that the trace has.
RankLoads rank_loads(const Trace& trace);

}  // namespace refrain::analysis
