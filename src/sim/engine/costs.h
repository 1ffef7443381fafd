// Costs: what a message between two ranks costs, in whole ns.
//
// Each cost is rounded once, half up. docs/simulate.md has the formulas.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "sim/engine/action.h"
#include "sim/machine/machine.h"

namespace refrain::sim {

// Half up, of what is never negative; more than 292 years are that.
inline Time rounded(double ns) { return static_cast<Time>(std::min(ns, 1e17) + 0.5); }

struct MessageCosts {
  Time send = 0;      // of the sender's processor: o_send + s O
  Time post = 0;      // o_send alone
  Time receive = 0;   // of the receiver's processor: o_recv + s O
  Time latency = 0;   // L
  Time notice = 0;    // of a request of rendezvous, its answer, an acknowledgement, each
  Time gap = 0;       // of a network interface: g
  Time crossing = 0;  // of one that comes while its receiver's own is on its way
  Time stream = 0;    // from the first to behind the last byte: s G
  double per_byte = 0;
  Time stream_of(uint64_t bytes) const { return rounded(static_cast<double>(bytes) * per_byte); }
  bool is_eager = true;
  bool is_acknowledged = false;  // eager, and not sent before its receiver has taken it
};

class Costs {
 public:
  // `nodes`: of each rank, Machine::places_for(). The machine outlives it.
  Costs(const Machine& machine, std::vector<uint32_t> nodes);

  MessageCosts of(uint32_t from, uint32_t to, uint64_t bytes) const;
  // Whether the processor of a rank copies it, and nothing else has to do with it.
  bool is_copy(uint32_t from, uint32_t to) const { return from == to && machine_.self.has_value(); }
  const Protocol& protocol(uint32_t from, uint32_t to) const {
    if (is_copy(from, to)) return *machine_.self;
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

// The costs that were asked for last, as most messages of a program are of a few sizes. Of one
// engine.
class KeptCosts {
 public:
  explicit KeptCosts(const Costs& costs) : costs_(costs) {}
  // Until the next one is asked for.
  const MessageCosts& of(uint32_t from, uint32_t to, uint64_t bytes) {
    const auto distance = costs_.is_copy(from, to)
                              ? static_cast<uint8_t>(kDistances)
                              : static_cast<uint8_t>(costs_.distance(from, to));
    Kept& kept = kept_[(bytes ^ bytes >> 6 ^ distance) % kKept];
    if (kept.bytes != bytes || kept.distance != distance)
      kept = {costs_.of(from, to, bytes), bytes, distance};
    return kept.costs;
  }

 private:
  static constexpr size_t kKept = 64;
  struct Kept {
    MessageCosts costs;
    uint64_t bytes = 0;
    uint8_t distance = UINT8_MAX;  // none
  };
  const Costs& costs_;
  std::array<Kept, kKept> kept_;
};

}  // namespace refrain::sim
