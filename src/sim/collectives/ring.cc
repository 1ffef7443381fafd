#include "sim/collectives/collective.h"

namespace refrain::sim {

// Blocks go around: n - 1 steps for an allgather or a reduce-scatter, both for an allreduce.
bool ring(const CollectiveCall& call, uint32_t step, Step& out) {
  const int64_t n = call.ranks;
  const bool is_allreduce = call.what == Collective::kAllreduce;
  const bool reduces = is_allreduce ? step < n - 1 : call.what == Collective::kReduceScatter;
  if (step >= (is_allreduce ? 2 : 1) * (n - 1)) return false;
  const int64_t turn = step % (n - 1);
  const auto bytes = [&](int64_t block) {
    return is_allreduce ? share(call.bytes, n, block, 1) : call.block(block);
  };
  // A reduced block ends at its owner; an allgather begins with the own one, of an allreduce with
  // the one behind, which is complete here.
  const int64_t sent = reduces ? call.shifted((is_allreduce ? 0 : -1) - turn)
                               : call.shifted((is_allreduce ? 1 : 0) - turn);
  out.receive(call.shifted(-1));
  out.send(call.shifted(1), bytes(sent));
  if (reduces) out.reduced = bytes((sent + n - 1) % n);
  return true;
}

}  // namespace refrain::sim
