// Keys of communicators for matching: the same key on all members.
//
// The definition of a communicator is the same on all members, with two exceptions: the two sides
// of an inter-communicator swap the groups, and MPI_COMM_SELF is a different communicator on every
// rank.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "refrain/trace.h"

namespace refrain::events {

using CommKey = uint32_t;
inline constexpr CommKey kNoComm = UINT32_MAX;

// As a member sees it.
struct CommView {
  CommKey key = kNoComm;
  Communicator comm;
  bool is_self = false;    // just this rank: nothing to wait for
  uint64_t all_ranks = 0;  // of this world, both groups of an inter-communicator
};

class CommTable {
 public:
  explicit CommTable(const Trace& trace) : trace_(trace) {}

  // kNoDefinition, and what is no communicator, stand for the world. A window or file stands for
  // its communicator.
  CommView view(DefinitionId definition, Rank me);

 private:
  using Sides = std::tuple<int64_t, Rank, Rank, uint64_t, uint64_t>;
  CommKey make_key(const Communicator& comm, bool is_self, Rank me);

  Trace trace_;
  std::unordered_map<DefinitionId, CommKey> intra_;
  std::map<Sides, CommKey> inter_;
  CommKey keys_ = 0;  // that were given out
  std::optional<CommKey> world_;
  std::unordered_map<CommKey, uint64_t> sizes_;  // ranks of this world
};

}  // namespace refrain::events
