// CommRanks: world ranks back to ranks of a communicator.
#pragma once

#include <map>
#include <unordered_map>
#include <utility>

#include "convert/rank_events.h"

namespace refrain::convert {

class CommRanks {
 public:
  // The rank that a dest or source parameter on `comm` has to name for world rank `peer`; -1: it is
  // no member. Communicators are looked at once.
  int64_t of(waits::CommKey key, const Communicator& comm, Rank peer);

 private:
  // The sides of an inter-communicator name each other's ranks: told apart by the first member.
  std::map<std::pair<waits::CommKey, Rank>, std::unordered_map<Rank, int64_t>> known_;
};

}  // namespace refrain::convert
