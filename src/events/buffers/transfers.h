// The data that one call passes to MPI: bytes, source and destination.
//
// The rules are those of mpi::Traffic in mpi/call_table.h: the data that a rank passes to MPI to be
// sent, counted on the sending side. A receive moves nothing of its own; a persistent request moves
// its data at every MPI_Start; a call that failed, and a partner MPI_PROC_NULL, move nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "events/buffers/out_degrees.h"
#include "refrain/calls.h"
#include "refrain/trace.h"

namespace refrain::events {

enum class TransferKind : uint8_t { kP2p = 0, kRma = 1, kCollective = 2, kIo = 3 };
inline constexpr int kTransferKinds = 4;

struct Transfer {
  TransferKind kind = TransferKind::kP2p;
  // World ranks of a kP2p or kRma transfer; -1: a process of another world. -1 for the other kinds.
  Rank source = -1, dest = -1;
  uint64_t bytes = 0;
  bool is_sized = true;  // false: the trace does not tell how many bytes it had, `bytes` is 0
  uint64_t repeat = 1;   // this many transfers like this one
};

// The transfers of one rank's calls. Uses the RankReader while it lives.
class TransferReader {
 public:
  explicit TransferReader(RankReader& reader) : reader_(reader) {}
  // The same with what all ranks of the trace can share, which outlives this object.
  TransferReader(RankReader& reader, GraphDegrees& graphs) : reader_(reader), graphs_(&graphs) {}

  // The transfers of one call of signature `id`: one per message, also an empty one, and one per
  // collective that this rank hands something in to. Valid until the next use.
  const std::vector<Transfer>& transfers(SignatureId id);

 private:
  void add(const Signature& call);
  void add_starts(const Signature& call);
  Transfer peer_transfer(const Signature& call) const;
  Communicator communicator_of(const Signature& call) const;
  // Out-degree of this rank in a communicator with a topology; -1 when the trace does not tell.
  int64_t out_degree(DefinitionId comm);

  RankReader& reader_;
  std::vector<Transfer> out_;
  GraphDegrees* graphs_ = nullptr;  // nullptr: a rank's own
  std::optional<std::map<DefinitionId, int64_t>> degrees_;
};

}  // namespace refrain::events
