#include "sim/collectives/collective.h"

namespace refrain::sim {

bool dissemination(const CollectiveCall& call, uint32_t step, Step& out) {
  if (step >= ceil_log2(call.ranks)) return false;
  const int64_t by = int64_t{1} << step;
  out.receive(call.shifted(-by));
  out.send(call.shifted(by), 0);
  return true;
}

}  // namespace refrain::sim
