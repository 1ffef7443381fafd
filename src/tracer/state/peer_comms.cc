#include "tracer/state/peer_comms.h"

namespace refrain::tracer {

RankComm& recorders() { return peer_comms().recorders; }

WorldGroup& world_group() { return peer_comms().world; }

bool has_peers() { return peer_comms().recorders.comm != MPI_COMM_NULL; }

}  // namespace refrain::tracer
