#include "sim/engine/costs.h"

#include <algorithm>

namespace refrain::sim {

Costs::Costs(const Machine& machine, std::vector<uint32_t> nodes)
    : machine_(machine), nodes_(std::move(nodes)) {
  for (const uint32_t node : nodes_) {
    switches_.push_back(static_cast<uint32_t>(switch_of(machine.topology, node)));
    slowness_.push_back(1 / machine.speed_of(node));
  }
}

MessageCosts Costs::of(uint32_t from, uint32_t to, uint64_t bytes) const {
  const Protocol& protocol = this->protocol(from, to);
  const SizeRange& range = protocol.range_of(bytes);
  const auto size = static_cast<double>(bytes);
  MessageCosts out;
  const double copied = size * range.cpu_per_byte.value;
  out.send = rounded(range.send.value + copied);
  out.post = rounded(range.send.value);
  out.receive = rounded(range.receive.value + copied);
  out.latency = rounded(range.latency.value);
  out.notice = rounded(range.handshake.value);
  out.per_byte = range.gap_per_byte.value;
  out.stream = out.stream_of(bytes);
  out.gap = rounded(range.gap.value);
  out.crossing = rounded(range.crossing.value + size * range.crossing_per_byte.value);
  out.is_eager = bytes <= protocol.eager_limit;
  out.is_acknowledged = protocol.is_acknowledged(bytes);
  return out;
}

Time Costs::copy(uint32_t from, uint32_t to, uint64_t bytes) const {
  const Protocol& protocol = this->protocol(from, to);
  return rounded(protocol.unexpected_copy.value +
                 static_cast<double>(bytes) * protocol.unexpected_copy_per_byte.value);
}

Time Costs::computation(uint32_t rank, uint64_t ns) const {
  return slowness_[rank] == 1 ? static_cast<Time>(std::min<uint64_t>(ns, uint64_t{1} << 56))
                              : rounded(static_cast<double>(ns) * slowness_[rank]);
}

}  // namespace refrain::sim
