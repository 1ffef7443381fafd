#include "sim/collectives/collective.h"

namespace refrain::sim {

// A bcast: the root scatters nearly equal parts along a binomial tree, and all ranks gather them:
// in a ring, or by recursive doubling where the ranks are a power of two and the message is not
// large.
bool scatter_allgather(const CollectiveCall& call, uint32_t step, Step& out) {
  if (call.ranks < 2) return false;
  constexpr uint64_t kLarge = 512 * 1024;
  CollectiveCall half = call;
  half.bytes =
      (call.bytes + static_cast<uint64_t>(call.ranks) - 1) / static_cast<uint64_t>(call.ranks);
  half.what = Collective::kScatter;
  const uint32_t first = count_steps(binomial, half);
  if (step < first) return binomial(half, step, out);
  half.what = Collective::kAllgather;
  const bool doubles = power_below(call.ranks) == call.ranks && call.bytes < kLarge;
  return (doubles ? recursive_doubling : ring)(half, step - first, out);
}

}  // namespace refrain::sim
