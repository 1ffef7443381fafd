#include "convert/comm_ranks.h"

namespace refrain::convert {

int64_t CommRanks::of(waits::CommKey key, const Communicator& comm, Rank peer) {
  if (comm.peer(peer) == peer) return peer;  // as in the world, whatever the others are
  const Rank side = comm.is_inter ? comm.remote_member(0) : -1;
  const auto [known, is_new] = known_.try_emplace({key, side});
  if (is_new) {
    const uint64_t size = comm.is_inter ? comm.remote_size() : comm.size();
    for (uint64_t i = 0; i < size; ++i) {
      const Rank member = comm.peer(static_cast<int64_t>(i));
      if (member >= 0) known->second.try_emplace(member, static_cast<int64_t>(i));
    }
  }
  const auto found = known->second.find(peer);
  return found == known->second.end() ? -1 : found->second;
}

}  // namespace refrain::convert
