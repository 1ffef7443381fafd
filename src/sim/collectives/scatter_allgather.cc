#include <algorithm>

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
  if (step < first) {
    if (!binomial(half, step, out)) return false;
    // The last ranks may have no part: nobody sends to them.
    const auto has_part = [&](int64_t rank) {
      return static_cast<uint64_t>(rank) * half.bytes < std::max<uint64_t>(call.bytes, 1);
    };
    std::erase_if(out.parts, [&](const Part& part) {
      const int64_t peer = (part.peer - call.root + call.ranks) % call.ranks;
      return !has_part(part.sends ? peer : call.relative());
    });
    return true;
  }
  half.what = Collective::kAllgather;
  const bool doubles = power_below(call.ranks) == call.ranks && call.bytes < kLarge;
  return (doubles ? recursive_doubling : ring)(half, step - first, out);
}

}  // namespace refrain::sim
