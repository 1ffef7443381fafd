// RankExpr: a value of a signature as a function of the rank, such as "my rank + 1". One signature
// of the file stands in this way for the calls of many ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "base/runs.h"
#include "format/layout.h"

namespace refrain::format {

// Who a rank is inside the communicator that a call works on.
struct CommPlace {
  int64_t me = 0;    // -1: not a member
  int64_t size = 0;  // of the group that the call's ranks count in: the remote one of an
                     // inter-communicator
};

// `me` and `size` are those of the CommPlace in the communicator that the call works on, or in the
// world where it has none.
struct RankExpr {
  enum class Kind : uint8_t {
    kConst = 0,   // a
    kAffine = 1,  // a * me + b
    kMod = 2,     // (me + a) mod size
    kXor = 3,     // me xor a
    kCart = 4,    // one step in a Cartesian grid: with coordinate c = (me / a) mod b,
                  // me + (((c + d) mod b) - c) * a
    kTable = 5,   // tables[a].at(position of the rank in its group)
    kDigit = 6,   // a coordinate in a mesh: ((me / a) mod b) * c + d
  };
  Kind kind = Kind::kConst;
  int64_t a = 0, b = 0, d = 0, c = 0;
  bool operator==(const RankExpr&) const = default;
};

ExprCode rank_expr_code(const RankExpr& e);
// How many numbers an expression of this code has.
constexpr uint32_t operand_count(ExprCode code) {
  return code == ExprCode::kAffine  ? 2
         : code == ExprCode::kCart  ? 3
         : code == ExprCode::kDigit ? 4
                                    : 1;
}

// Wrapping 64-bit arithmetic, total for every input. `position`: of the rank in its group's list.
int64_t evaluate(const RankExpr& expr, CommPlace place, uint64_t position,
                 const std::vector<base::RunList>& tables);
// The value of a Cartesian shift (RankExpr::kCart), me when a or b are not positive.
int64_t cart_shift(int64_t me, int64_t a, int64_t b, int64_t d);
// The digit of a coordinate (RankExpr::kDigit), 0 when a or b are not positive or there is no me.
int64_t digit(int64_t me, int64_t a, int64_t b);

}  // namespace refrain::format
