#include "events/by_rank/comm_ranks.h"

namespace refrain::events {

std::vector<Rank> members_of(const Communicator& comm) {
  std::vector<Rank> own, remote;
  for (uint64_t i = 0; i < comm.size(); ++i)
    if (const Rank rank = comm.member(static_cast<int64_t>(i)); rank >= 0) own.push_back(rank);
  for (uint64_t i = 0; i < comm.remote_size(); ++i)
    if (const Rank rank = comm.remote_member(static_cast<int64_t>(i)); rank >= 0)
      remote.push_back(rank);
  // Both groups of an inter-communicator see the other one as remote. The one with the lower first
  // rank goes first, so that all members count alike.
  const bool remote_first = !remote.empty() && (own.empty() || remote[0] < own[0]);
  std::vector<Rank>& first = remote_first ? remote : own;
  const std::vector<Rank>& second = remote_first ? own : remote;
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

int64_t CommRanks::of(const CommView& view, Rank member) {
  // MPI_COMM_WORLD and copies of it, which are most: no table is made for them.
  if (!view.comm.is_inter && view.comm.member(member) == member) return member;
  const auto [known, is_new] = known_.try_emplace(view.key);
  if (is_new) {
    const std::vector<Rank> members = members_of(view.comm);
    for (size_t i = 0; i < members.size(); ++i)
      known->second.try_emplace(members[i], static_cast<int64_t>(i));
  }
  const auto found = known->second.find(member);
  return found == known->second.end() ? -1 : found->second;
}

}  // namespace refrain::events
