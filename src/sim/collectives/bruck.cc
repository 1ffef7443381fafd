#include "sim/collectives/collective.h"

namespace refrain::sim {

// J. Bruck: about log2(n) steps, for any number of ranks. In step k a rank sends what 2^k ranks
// have, or all blocks whose distance has bit k.
bool bruck(const CollectiveCall& call, uint32_t step, Step& out) {
  if (step >= ceil_log2(call.ranks)) return false;
  const int64_t n = call.ranks, by = int64_t{1} << step;
  uint64_t bytes = 0;
  if (call.what == Collective::kAllgather) {
    const int64_t count = std::min(by, n - by);
    if (call.blocks == nullptr)
      bytes = call.bytes * static_cast<uint64_t>(count);
    else
      for (int64_t i = 0; i < count; ++i) bytes += call.block(call.shifted(i));
    out.receive(call.shifted(by));
    out.send(call.shifted(-by), bytes);
    return true;
  }
  for (int64_t i = 1; i < n; ++i)
    if ((i & by) != 0) bytes += call.bytes;
  out.receive(call.shifted(-by));
  out.send(call.shifted(by), bytes);
  return true;
}

}  // namespace refrain::sim
