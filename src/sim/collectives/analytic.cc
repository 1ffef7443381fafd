#include <cmath>

#include "sim/collectives/collective.h"

namespace refrain::sim {

// The usual formulas for one-ported ranks that all begin together (E. Chan et al., "Collective
// communication: theory, practice, and experience", 2007): a logarithm of latencies, and each byte
// as often as it has to be sent.
double analytic_ns(const CollectiveCall& call, const Hockney& costs) {
  const auto n = static_cast<double>(call.ranks);
  if (call.ranks < 2) return 0;
  const double rounds = ceil_log2(call.ranks);
  const auto bytes = static_cast<double>(call.bytes);
  const double most = (n - 1) / n;
  switch (call.what) {
    case Collective::kBarrier: return rounds * costs.alpha_ns;
    case Collective::kBcast: return rounds * (costs.alpha_ns + bytes * costs.beta_ns_per_byte);
    case Collective::kReduce:
    case Collective::kScan:
      return rounds * (costs.alpha_ns + bytes * (costs.beta_ns_per_byte + costs.gamma_ns_per_byte));
    case Collective::kAllreduce:
      return 2 * rounds * costs.alpha_ns +
             most * bytes * (2 * costs.beta_ns_per_byte + costs.gamma_ns_per_byte);
    case Collective::kGather:
    case Collective::kScatter:
    case Collective::kAllgather:
      return rounds * costs.alpha_ns + (n - 1) * bytes * costs.beta_ns_per_byte;
    case Collective::kAlltoall: return (n - 1) * (costs.alpha_ns + bytes * costs.beta_ns_per_byte);
    case Collective::kReduceScatter:
      return rounds * costs.alpha_ns +
             (n - 1) * bytes * (costs.beta_ns_per_byte + costs.gamma_ns_per_byte);
  }
  return 0;
}

}  // namespace refrain::sim
