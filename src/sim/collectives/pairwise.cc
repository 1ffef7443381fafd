#include "sim/collectives/collective.h"

namespace refrain::sim {

// In step i with the rank at distance i + 1, or the partner by exclusive or where the ranks are a
// power of two.
bool pairwise(const CollectiveCall& call, uint32_t step, Step& out) {
  const int64_t by = int64_t{step} + 1;
  if (by >= call.ranks) return false;
  const bool is_power = power_below(call.ranks) == call.ranks;
  const bool reduces = call.what == Collective::kReduceScatter;
  const int64_t to = is_power && !reduces ? call.me ^ by : call.shifted(by);
  const int64_t from = is_power && !reduces ? to : call.shifted(-by);
  out.receive(from);
  out.send(to, call.block(to));
  if (reduces) out.reduced = call.block(call.me);
  return true;
}

}  // namespace refrain::sim
