// The ranks that a rank receives from in a neighbourhood collective: topologies of communicators,
// from the calls that created them. MPI 4.1, chapter 8.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "events/comms.h"
#include "refrain/calls.h"

namespace refrain::events {

// What one rank's call says about the topology of the communicator that it makes. Ranks are numbers
// in communicators.
struct TopologyCall {
  enum class Kind : uint8_t { kCart, kCartSub, kGraph, kAdjacent, kEdges, kCopy };
  Kind kind = Kind::kCopy;
  CommKey made = kNoComm, old = kNoComm;
  int64_t me_in_old = -1;
  std::vector<int64_t> dims;     // kCart: sizes; kGraph: the index
  std::vector<int64_t> flags;    // kCart: periods; kCartSub: which dimensions remain
  std::vector<int64_t> sources;  // kAdjacent; kEdges: one for each edge; kGraph: the edges
  std::vector<int64_t> targets;  // kEdges: beside sources
};

// nullptr: the call makes no topology, or says nothing of it.
std::unique_ptr<TopologyCall> topology_of(const Signature& call, CommTable& comms, Rank me);

class Topologies {
 public:
  // A rank enters such a call, as the last one of its members or not. What each says for itself
  // counts from the last one on: until then ranks may be in calls of a communicator of the same
  // name.
  void note(const TopologyCall& call, bool is_last);
  bool knows(CommKey comm) const { return all_.count(comm) > 0; }
  // Appends the ranks that `me` hears from, as numbers in the communicator. False: not known.
  bool sources(CommKey comm, int64_t me, std::vector<int64_t>& out) const;
  // Of a grid: the neighbours in the order of a neighbourhood collective's blocks, two for each
  // dimension, -1 behind an edge. False: not a grid, or not known.
  bool grid_neighbours(CommKey comm, int64_t me, std::vector<int64_t>& out) const;

 private:
  struct Topology {
    TopologyCall::Kind kind = TopologyCall::Kind::kCart;
    std::vector<int64_t> dims, flags, edges;
    std::unordered_map<int64_t, std::vector<int64_t>> sources;  // by who hears
  };
  using Table = std::unordered_map<CommKey, std::shared_ptr<const Topology>>;
  Table all_;  // a copy shares that of the old one
  std::unordered_map<CommKey, Topology> unfinished_;
};

}  // namespace refrain::events
