#include "sim/collectives/collective.h"

namespace refrain::sim {

// A reduce-scatter: each pair swaps halves of what it still has, until each rank has its block.
bool recursive_halving(const CollectiveCall& call, uint32_t step, Step& out) {
  const Folded folded(call);
  const uint32_t rounds = ceil_log2(folded.power);
  uint64_t all = 0;
  if (call.blocks == nullptr)
    all = call.bytes * static_cast<uint64_t>(call.ranks);
  else
    for (int64_t i = 0; i < call.ranks; ++i) all += call.block(i);
  const int64_t folds_with = folded.partner_of(call.me);
  const uint64_t after = call.me < 2 * folded.rest ? call.block(folds_with) : 0;
  const FoldSteps fold = {folds_with, rounds, all, after};
  if (const auto done = fold.take(folded, call.me, step, out)) return *done;
  if (step >= rounds) return false;
  // Blocks of the numbers [first, first + size) are the partner's.
  const int64_t size = folded.power >> (step + 1);
  const int64_t partner = folded.number ^ size;
  const int64_t first = partner / size * size, mine = folded.number / size * size;
  const auto blocks = [&](int64_t from) {
    uint64_t sum = 0;
    for (int64_t i = from; i < from + size; ++i) {
      sum += call.block(folded.rank(i));
      if (i < folded.rest) sum += call.block(2 * i);  // of the one that stands aside
    }
    return sum;
  };
  out.receive(folded.rank(partner));
  out.send(folded.rank(partner), blocks(first));
  out.reduced = blocks(mine);
  return true;
}

}  // namespace refrain::sim
