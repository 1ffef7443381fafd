// SlotEvaluator: computes the slot values of one rank from a signature of the file.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "format/definitions.h"
#include "format/signatures/rank_expr.h"
#include "format/signatures/walk.h"
#include "format/trace_data.h"

namespace refrain::format {

// A rank, and where it stands in the `ranks` of its group: a struct, as three numbers in a row are
// soon in the wrong order.
struct RankPosition {
  uint64_t rank = 0;  // in the world
  uint64_t position = 0;
  bool operator==(const RankPosition&) const = default;
};

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
  Context context_of(uint32_t signature, RankPosition who);
  // All slot values in the order of the shape. The reference is valid until the next call.
  const std::vector<int64_t>& values(uint32_t signature, RankPosition who);

 private:
  struct Known {
    const ShapeStructure* structure = nullptr;
    Context context;     // that of who_ when `round` is round_
    uint32_t round = 0;  // 0: of no rank
  };
  Known& known(uint32_t signature);
  std::optional<Context> own_context(uint32_t signature, const ShapeStructure& structure,
                                     RankPosition who);

  const TraceData& trace_;
  CommPlaces places_;
  std::unordered_map<uint32_t, Known> known_;  // by signature
  uint32_t round_ = 0;
  RankPosition who_;
  std::vector<Known*> chain_;
  std::vector<int64_t> values_;
};

}  // namespace refrain::format
