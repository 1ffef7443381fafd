// SlotEvaluator: from a signature of the file to the values that one rank had in its slots.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "format/definitions.h"
#include "format/rank_expr.h"
#include "format/trace_data.h"
#include "format/walk.h"

namespace refrain::format {

// What a signature's expressions are about, for one rank.
struct Context {
  CommPlace place;
  int64_t definition = -1;  // the communicator, or the window or file with one; -1: the world
};

// The slot values of one rank, signature by signature. Keeps a reference to the trace; caches what
// it learns about shapes and communicators, so keep one for as long as the trace, and finish one
// rank before the next: contexts are kept for the last rank only. Takes memory for the signatures
// that it was asked for, not for all: readers keep one for each rank. Not thread safe.
class SlotEvaluator {
 public:
  explicit SlotEvaluator(const TraceData& trace);

  // Which communicator's rank and size the signature's expressions are about, for this rank: step 4
  // of "What a rank did" in docs/format.md. For all signatures of a rank together it costs time in
  // proportion to their number, however long the chains of requests are.
  Context context_of(uint32_t signature, uint64_t rank, uint64_t position);
  // All slot values in the order of the shape. `rank` is a world rank, `position` its place in its
  // group's `ranks`. The reference is valid until the next call.
  const std::vector<int64_t>& values(uint32_t signature, uint64_t rank, uint64_t position);

 private:
  struct Known {
    const ShapeStructure* structure = nullptr;
    Context context;     // that of rank_ at position_ when `round` is round_
    uint32_t round = 0;  // 0: of no rank
  };
  Known& known(uint32_t signature);
  std::optional<Context> own_context(uint32_t signature, const ShapeStructure& structure,
                                     uint64_t rank, uint64_t position);

  const TraceData& trace_;
  CommPlaces places_;
  std::unordered_map<uint32_t, Known> known_;  // by signature
  uint32_t round_ = 0;
  uint64_t rank_ = 0, position_ = 0;
  std::vector<Known*> chain_;
  std::vector<int64_t> values_;
};

}  // namespace refrain::format
