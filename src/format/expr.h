// Evaluates rank expressions: from a Signature of the file to the values that one rank had.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "format/definitions.h"
#include "format/trace_data.h"
#include "format/walk.h"

namespace refrain::format {

// Wrapping 64-bit arithmetic, total for every input. `position`: of the rank in its group's list.
int64_t evaluate(const Expr& expr, Place place, uint64_t position,
                 const std::vector<base::RunList>& tables);
// The value of a Cartesian shift (Expr::kCart), me when a or b are not positive.
int64_t cart_shift(int64_t me, int64_t a, int64_t b, int64_t d);

// The slot values of one rank, signature by signature. Keeps a reference to the trace; caches what
// it learns about shapes and communicators, so keep one for as long as the trace. Not thread safe.
class SlotEvaluator {
 public:
  explicit SlotEvaluator(const TraceData& trace);

  // Which communicator's rank and size the signature's expressions are about, for this rank.
  Place place_of(uint32_t signature, uint64_t rank, uint64_t position);
  // All slot values in the order of the shape. `rank` is a world rank, `position` its place in its
  // group's `ranks`. The reference is valid until the next call.
  const std::vector<int64_t>& values(uint32_t signature, uint64_t rank, uint64_t position);

 private:
  const ShapeInfo& info(uint32_t signature);

  const TraceData& trace_;
  Places places_;
  std::vector<ShapeInfo> infos_;
  std::vector<char> known_;
  std::vector<int64_t> values_;
};

}  // namespace refrain::format
