// Finds the function of the rank that gives the values of a slot: the algebra of SlotState
// (merge.h).
//
// A state together with the place of its first rank stands for the set of all functions of the four
// forms that give the right value on every rank seen so far; intersect() forms the intersection of
// two such sets exactly. All arithmetic wraps, every function here is total.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "format/definitions.h"
#include "format/merge/merge.h"
#include "format/signatures/walk.h"

namespace refrain::format {

// Everything that one value allows. A definition index is never computed with: constant or table.
SlotState first_sample(SlotNature nature, int64_t value, CommPlace place);

// `a` becomes what explains both. Both must be alive; the result may be dead (alive == 0), its
// `values` are then still to be filled in.
void intersect(SlotState& a, CommPlace first_of_a, const SlotState& b, CommPlace first_of_b);

// The simplest living expression: constant, me + c, (me + c) mod size, me xor c, other affine.
RankExpr choose(const SlotState& state, CommPlace first);

// True when the state still allows something simpler than an affine function with a slope that only
// two accidental points suggest.
bool is_simple(const SlotState& state);

// A Cartesian shift that gives values[i] where CommPlace::me is mes[i], for every i; tried for
// tables.
std::optional<RankExpr> find_cart(const base::RunList& values, const base::RunList& mes);

// The same for a coordinate in a mesh of `size` ranks, times and plus something.
std::optional<RankExpr> find_digit(const base::RunList& values, const base::RunList& mes,
                                   int64_t size);

// Whether the expression, which needs no tables, gives values[i] where CommPlace::me is mes[i].
bool explains(const RankExpr& expr, const base::RunList& values, const base::RunList& mes,
              int64_t size);

}  // namespace refrain::format
