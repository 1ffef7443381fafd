#include "sim/collectives/collective.h"

namespace refrain::sim {

// R. Rabenseifner: a reduce-scatter by halving, then an allgather by doubling (allreduce), or a
// gather along the same pairs (reduce). The root of a reduce is number 0 of those that work.
bool rabenseifner(const CollectiveCall& call, uint32_t step, Step& out) {
  if (call.ranks < 2) return false;
  const bool is_reduce = call.what == Collective::kReduce;
  CollectiveCall turned = call;
  // The root changes places with the rank that is number 0.
  const Folded of_0(call);
  const int64_t zero = of_0.rank(0);
  const auto swap = [&](int64_t rank) {
    if (!is_reduce) return rank;
    return rank == call.root ? zero : rank == zero ? call.root : rank;
  };
  turned.me = swap(call.me);
  const Folded folded(turned);
  const uint32_t rounds = ceil_log2(folded.power);
  const FoldSteps fold = {swap(folded.partner_of(turned.me)), 2 * rounds, call.bytes, call.bytes,
                          !is_reduce};
  if (const auto done = fold.take(folded, turned.me, step, out)) return *done;
  if (step >= 2 * rounds) return false;
  const bool halves = step < rounds;
  const int64_t size = halves ? folded.power >> (step + 1) : int64_t{1} << (step - rounds);
  const int64_t other = folded.number ^ size;
  const int64_t mine = folded.number / size * size, theirs = other / size * size;
  const int64_t partner = swap(folded.rank(other));
  if (halves) {
    out.receive(partner);
    out.send(partner, share(call.bytes, folded.power, theirs, size));
    out.reduced = share(call.bytes, folded.power, mine, size);
  } else if (!is_reduce) {
    out.receive(partner);
    out.send(partner, share(call.bytes, folded.power, mine, size));
  } else if (folded.number % size == 0) {  // the others have sent theirs
    if (other > folded.number)
      out.receive(partner);
    else
      out.send(partner, share(call.bytes, folded.power, mine, size));
  }
  return true;
}

}  // namespace refrain::sim
