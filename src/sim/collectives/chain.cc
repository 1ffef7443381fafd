#include "sim/collectives/collective.h"

namespace refrain::sim {

// Each rank hands on to its next one, piece by piece: a bcast from the root, a reduction to it, a
// scan from rank 0. While a piece is sent, the one behind it is received.
bool chain(const CollectiveCall& call, uint32_t step, Step& out) {
  if (call.ranks < 2) return false;
  const bool is_reduce = call.what == Collective::kReduce;
  const bool is_scan = call.what == Collective::kScan;
  const int64_t n = call.ranks;
  const int64_t place = is_scan ? call.me : is_reduce ? n - 1 - call.relative() : call.relative();
  const auto rank_at = [&](int64_t at) {
    return is_scan ? at : call.absolute(is_reduce ? n - 1 - at : at);
  };
  const uint64_t size = call.segment == 0 ? call.bytes : std::min(call.segment, call.bytes);
  const uint64_t pieces = size == 0 ? 1 : (call.bytes + size - 1) / size;
  const bool is_first = place == 0, is_last = place == n - 1;
  // The first sends piece i in step i, the others receive it then and send it in the next one.
  const uint64_t steps = is_first || is_last ? pieces : pieces + 1;
  if (step >= steps) return false;
  if (!is_first && step < pieces) {
    out.receive(rank_at(place - 1));
    if (is_reduce || is_scan) out.reduced = std::min(size, call.bytes - step * size);
  }
  const bool sends = !is_last && (is_first || step > 0);
  if (sends) {
    const uint64_t piece = is_first ? step : step - 1;
    out.send(rank_at(place + 1), std::min(size, call.bytes - piece * size));
  }
  return true;
}

}  // namespace refrain::sim
