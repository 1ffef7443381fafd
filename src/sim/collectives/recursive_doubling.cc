#include "sim/collectives/collective.h"

namespace refrain::sim {

namespace {

// Each pair has what 2^step ranks had. Where the ranks are no power of two, the others stand aside.
bool doubling(const CollectiveCall& call, uint32_t step, Step& out) {
  const Folded folded(call);
  const uint32_t rounds = ceil_log2(folded.power);
  const FoldSteps fold = {folded.partner_of(call.me), rounds, call.bytes, call.bytes};
  if (const auto done = fold.take(folded, call.me, step, out)) return *done;
  if (step >= rounds) return false;
  const int64_t partner = folded.rank(folded.number ^ int64_t{1} << step);
  out.receive(partner);
  out.send(partner, call.bytes);
  out.reduced = call.bytes;
  return true;
}

// Of a power of two of ranks: what both have doubles.
bool gathering(const CollectiveCall& call, uint32_t step, Step& out) {
  if (step >= ceil_log2(call.ranks)) return false;
  const int64_t size = int64_t{1} << step, partner = call.me ^ size;
  const int64_t first = call.me / size * size;
  uint64_t bytes = 0;
  if (call.blocks == nullptr)
    bytes = call.bytes * static_cast<uint64_t>(size);
  else
    for (int64_t i = first; i < first + size; ++i) bytes += call.block(i);
  out.receive(partner);
  out.send(partner, bytes);
  return true;
}

// Ranks below send, ranks above receive as well.
bool scanning(const CollectiveCall& call, uint32_t step, Step& out) {
  if (step >= ceil_log2(call.ranks)) return false;
  const int64_t partner = call.me ^ int64_t { 1 } << step;
  if (partner >= call.ranks) return true;
  out.receive(partner);
  out.send(partner, call.bytes);
  out.reduced = call.bytes;
  return true;
}

}  // namespace

bool recursive_doubling(const CollectiveCall& call, uint32_t step, Step& out) {
  if (call.what == Collective::kScan) return scanning(call, step, out);
  if (call.what != Collective::kAllgather) return doubling(call, step, out);
  // Not of a power of two: the ring is as good as any.
  return (power_below(call.ranks) == call.ranks ? gathering : ring)(call, step, out);
}

}  // namespace refrain::sim
