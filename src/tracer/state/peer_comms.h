// The communicators of the recorders.
#pragma once

#include "mpi_runtime/rank_comm.h"
#include "mpi_runtime/world_group.h"
#include "tracer/state/current.h"
#include "tracer/state/peers.h"

namespace refrain::tracer {

struct PeerComms {
  RankComm recorders;  // a private communicator
  WorldGroup world;
};

inline PeerComms& peer_comms() { return of_this_process<PeerComms>(); }

}  // namespace refrain::tracer
