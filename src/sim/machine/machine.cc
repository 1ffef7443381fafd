#include "sim/machine/machine.h"

#include <algorithm>

namespace refrain::sim {

std::string_view name_of(Distance distance) {
  constexpr std::string_view kNames[] = {"core", "node", "switch"};
  return kNames[static_cast<size_t>(distance)];
}

uint64_t nodes_of(const Topology& topology) {
  if (topology.kind == Topology::Kind::kCrossbar)
    return topology.nodes == 0 ? UINT64_MAX : topology.nodes;
  uint64_t nodes = 1;
  for (const uint64_t n : topology.down) {
    if (n == 0 || nodes > UINT32_MAX / n) return UINT64_MAX;
    nodes *= n;
  }
  return nodes;
}

uint64_t switch_of(const Topology& topology, uint64_t node) {
  switch (topology.kind) {
    case Topology::Kind::kCrossbar: return 0;
    case Topology::Kind::kFatTree: return node / topology.down.front();
    case Topology::Kind::kTorus: return node;
    case Topology::Kind::kDragonfly: return node / topology.down.back();
  }
  return 0;
}

uint64_t Machine::places() const {
  if (mapping.kind == Mapping::Kind::kList) return mapping.nodes.size();
  const uint64_t nodes = nodes_of(topology);
  if (nodes == UINT64_MAX) return nodes;
  return nodes > UINT64_MAX / topology.cores ? UINT64_MAX : nodes * topology.cores;
}

base::Result<std::vector<uint32_t>> Machine::places_for(uint64_t ranks) const {
  const uint64_t known = places();
  if (ranks > known) {
    const std::string at =
        file + ":" + std::to_string(mapping.line) + ":" + std::to_string(mapping.column);
    return base::usage("the machine has places for " + std::to_string(known) +
                           (known == 1 ? " rank" : " ranks") + ", and the run has " +
                           std::to_string(ranks) +
                           ": more nodes, cores or entries of the mapping are needed",
                       at);
  }
  const uint64_t nodes = nodes_of(topology);
  const uint64_t all = nodes == UINT64_MAX ? (ranks + topology.cores - 1) / topology.cores : nodes;
  std::vector<uint32_t> out(ranks);
  for (uint64_t r = 0; r < ranks; ++r) {
    uint64_t node = 0;
    switch (mapping.kind) {
      case Mapping::Kind::kBlock: node = r / topology.cores; break;
      case Mapping::Kind::kRoundRobin: node = r % std::max<uint64_t>(1, all); break;
      case Mapping::Kind::kList: node = mapping.nodes[r]; break;
    }
    out[r] = static_cast<uint32_t>(node);
  }
  return out;
}

bool Machine::has_crossing() const {
  for (const Protocol& protocol : distances)
    for (const SizeRange& range : protocol.ranges)
      if (range.crossing.high > 0 || range.crossing_per_byte.high > 0) return true;
  return false;
}

double Machine::speed_of(uint64_t node) const {
  for (const NodeKind& kind : node_kinds)
    if (node >= kind.first && node - kind.first < kind.count) return kind.speed;
  return 1;
}

}  // namespace refrain::sim
