#include "sim/collectives/collective.h"

namespace refrain::sim {

// All with the root, or all with all, at once.
bool linear(const CollectiveCall& call, uint32_t step, Step& out) {
  if (step > 0 || call.ranks < 2) return false;
  const bool with_root = call.what == Collective::kBcast || call.what == Collective::kReduce ||
                         call.what == Collective::kGather || call.what == Collective::kScatter;
  const bool is_total = call.what == Collective::kBcast || call.what == Collective::kReduce;
  const bool to_root = call.what == Collective::kReduce || call.what == Collective::kGather;
  if (with_root && call.me != call.root) {
    if (to_root)
      out.send(call.root, is_total ? call.bytes : call.block(call.me));
    else
      out.receive(call.root);
    return true;
  }
  const bool sends = !with_root || !to_root;
  if (!with_root || to_root)
    for (int64_t i = 1; i < call.ranks; ++i) out.receive(call.shifted(-i));
  for (int64_t i = 1; sends && i < call.ranks; ++i) {
    const int64_t peer = call.shifted(i);
    const bool own = call.what == Collective::kAllgather;
    out.send(peer, is_total ? call.bytes : call.block(own ? call.me : peer));
  }
  if (call.what == Collective::kReduce)
    out.reduced = call.bytes * static_cast<uint64_t>(call.ranks - 1);
  return true;
}

}  // namespace refrain::sim
