// Costs: what a message between two ranks costs, in whole ns.
//
// Each cost is rounded once, half up. docs/simulate.md has the formulas.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine/action.h"
#include "sim/machine/machine.h"

namespace refrain::sim {

struct MessageCosts {
  Time send = 0;      // of the sender's processor: o_send + s O
  Time post = 0;      // o_send alone
  Time receive = 0;   // of the receiver's processor: o_recv + s O
  Time latency = 0;   // L
  Time notice = 0;    // of a request of rendezvous, and of its answer, each
  Time gap = 0;       // of a network interface: g
  Time crossing = 0;  // of one that comes while its receiver's own is on its way
  Time stream = 0;    // from the first to behind the last byte: s G
  double per_byte = 0;
  Time stream_of(uint64_t bytes) const;
  bool is_eager = true;
};

class Costs {
 public:
  // `nodes`: of each rank, Machine::places_for(). The machine outlives it.
  Costs(const Machine& machine, std::vector<uint32_t> nodes);

  MessageCosts of(uint32_t from, uint32_t to, uint64_t bytes) const;
  const Protocol& protocol(uint32_t from, uint32_t to) const {
    return machine_.distances[static_cast<size_t>(distance(from, to))];
  }
  Time copy(uint32_t from, uint32_t to, uint64_t bytes) const;
  Time computation(uint32_t rank, uint64_t ns) const;
  Distance distance(uint32_t from, uint32_t to) const {
    if (nodes_[from] == nodes_[to]) return Distance::kCore;
    return switches_[from] == switches_[to] ? Distance::kNode : Distance::kSwitch;
  }
  uint32_t node(uint32_t rank) const { return nodes_[rank]; }
  uint32_t ranks() const { return static_cast<uint32_t>(nodes_.size()); }
  const Machine& machine() const { return machine_; }

 private:
  const Machine& machine_;
  std::vector<uint32_t> nodes_, switches_;
  std::vector<double> slowness_;
};

// Of what is never negative; more than 292 years are that.
Time rounded(double ns);

}  // namespace refrain::sim
