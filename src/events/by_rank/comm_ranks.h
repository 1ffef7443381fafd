// CommRanks: translates world ranks to ranks of a communicator.
//
// An inter-communicator counts as one of both groups, the group with the lower first member in
// front: OTF2's own definition of inter-communicators stops its Python reader (3.0.2).
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "events/by_rank/rank_events.h"

namespace refrain::events {

// World ranks by rank in the communicator, those of other worlds left out of both groups.
std::vector<Rank> members_of(const Communicator& comm);

class CommRanks {
 public:
  // -1: it is no member. Communicators are looked at once.
  int64_t of(const CommView& view, Rank member);

 private:
  std::unordered_map<CommKey, std::unordered_map<Rank, int64_t>> known_;
};

}  // namespace refrain::events
