// op_of: the op of a signature, also of a damaged trace.
#pragma once

#include <cstdint>

#include "events/op.h"
#include "refrain/calls.h"

namespace refrain::events {

// What a call does. Of a call with more requests than any program has, nothing: a damaged trace may
// say in a few bytes that there are 2^40.
inline const Op& op_of(Decoder& ops, const Signature& call) {
  constexpr uint64_t kMostElements = uint64_t{1} << 20;
  static const Op kNothing;
  for (const Argument& arg : call.args)
    if (arg.value.at_entry().size() > kMostElements || arg.value.at_exit().size() > kMostElements)
      return kNothing;
  return ops.op(call);
}

}  // namespace refrain::events
