// Peers: the ranks whose recorders work together: all ranks of the job, or those that are recorded.
// A *peer* is a rank in their communicator.
#pragma once

#include <algorithm>
#include <vector>

#include "tracer/state/current.h"

namespace refrain::mpi_runtime {
struct RankComm;
struct WorldGroup;
}  // namespace refrain::mpi_runtime

namespace refrain::tracer {

using mpi_runtime::RankComm;
using mpi_runtime::WorldGroup;

struct Peers {
  int mine = 0, count = 1;
  std::vector<int> recorded;  // by peer: the rank in MPI_COMM_WORLD; ascending; empty: all ranks

  bool is_partial() const { return !recorded.empty(); }
  bool has(int rank) const {
    return recorded.empty() || std::binary_search(recorded.begin(), recorded.end(), rank);
  }
  int rank_of(int peer) const {
    return recorded.empty() ? peer : recorded[static_cast<size_t>(peer)];
  }
  // Of a rank that is recorded.
  int peer_of(int rank) const {
    const auto at = std::lower_bound(recorded.begin(), recorded.end(), rank);
    return recorded.empty() ? rank : static_cast<int>(at - recorded.begin());
  }
};

inline Peers& peers() { return of_this_process<Peers>(); }

// Their communicator, and whether there is one: what it is says peer_comms.h.
RankComm& recorders();
// The group whose ranks communicators are told by.
WorldGroup& world_group();
bool has_peers();

}  // namespace refrain::tracer
