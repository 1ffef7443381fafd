// Neighbours: with whom a rank exchanges data in the neighbourhood collectives of a communicator.
//
// Read from the signatures of all ranks before any of their calls is simulated, as a rank may come
// to such a call while others are still on their way to it. A communicator may be freed and another
// one made under its name: each signature that makes a topology has a key of its own, which is the
// same on all members.
//
// Memory: linear in the edges. Threads: one.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "events/comms.h"
#include "events/topologies.h"
#include "refrain/calls.h"
#include "refrain/trace.h"

namespace refrain::sim {

class Neighbours {
 public:
  // In the order of the blocks; ranks are numbers in the communicator, -1 is nobody.
  struct Lists {
    std::vector<int64_t> sources, targets;
  };
  Neighbours(const Trace& trace, events::CommTable& comms);
  // Whether the trace has such collectives.
  static bool are_needed(const Trace& trace);
  // What a call of a rank makes; kNoComm: no topology.
  events::CommKey made_by(Rank rank, SignatureId call) const;
  // nullptr: not known.
  const Lists* of(events::CommKey made, int64_t me) const;

 private:
  struct Made {                                       // a communicator with a topology
    std::vector<events::TopologyCall> calls;          // of its members
    std::map<int64_t, std::vector<int64_t>> targets;  // that they name, by member
    uint64_t members = 0;
  };
  void read(const Trace& trace, events::CommTable& comms, Rank rank);
  events::CommKey key(events::CommKey comm, uint32_t number);
  void add(const events::TopologyCall& call, const Signature& signature, uint64_t members);
  void find_lists(events::CommKey comm, const Made& made, const events::Topologies& topologies);

  // By the communicator, and which of the topologies made under its name, in the order in which a
  // rank makes them first.
  std::map<std::pair<events::CommKey, uint32_t>, events::CommKey> keys_;
  std::map<std::pair<Rank, SignatureId>, events::CommKey> made_by_;
  std::map<events::CommKey, Made> made_;
  std::map<std::pair<events::CommKey, int64_t>, Lists> lists_;
};

}  // namespace refrain::sim
