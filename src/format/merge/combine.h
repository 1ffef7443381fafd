// Two groups of ranks that made the same calls become one.
#pragma once

#include "format/merge/merge.h"
#include "format/signatures/slot_evaluator.h"

namespace refrain::format {

// Merges `b` into `a`, whose ranks are all below those of `b`; nothing of `b` is of use afterwards.
// Both have the same calls in the same order: terminals of equal shapes, from equal places. Where
// `b` is like another group, that is `a`. Each slot then says what explains its values on all
// ranks.
void combine(PartialGroup& a, PartialGroup& b, const ShapeTable& shapes, CommPlaces& places);

}  // namespace refrain::format
