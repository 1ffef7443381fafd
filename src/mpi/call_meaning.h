// The meaning of each MPI function, and the memory that it reads and writes: from spec/mpi/calls,
// without any <mpi.h>.
//
// No code derives the meaning from the name of a function. A form (nonblocking, persistent, split,
// polling, with large counts) names the blocking function that it is a form of, and shares its
// meaning.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "mpi/call_table.h"

namespace refrain::mpi {

// Several may hold: MPI_Win_free is a collective that frees.
enum Does : uint16_t {
  kDoesSend = 1 << 0,
  kDoesReceive = 1 << 1,
  kDoesProbe = 1 << 2,       // says which message is there, and takes none
  kDoesStart = 1 << 3,       // what a persistent request stands for, or a part of it
  kDoesComplete = 1 << 4,    // what a request, or a split call, stands for
  kDoesCollective = 1 << 5,  // all ranks of a communicator call it
  kDoesEpoch = 1 << 6,       // begins, ends or orders accesses to a window
  kDoesAccess = 1 << 7,      // to the window of another rank
  kDoesFile = 1 << 8,        // reads or writes a file
  kDoesMake = 1 << 9,        // an object of MPI
  kDoesFree = 1 << 10,
  kDoesLocal = 1 << 11,  // none of these
};

enum class How : uint8_t {
  kReturns,      // whatever other ranks do
  kWaits,        // until others have done their part, or may
  kPolls,        // says whether they have
  kNonblocking,  // begins what a request, or the end of a split call, completes
  kPersistent,   // makes a request that is to be started
  kEnqueues,     // on a stream, where it is done later
};

enum class SendMode : uint8_t { kStandard, kBuffered, kSynchronous, kReady };

// Who waits for whom in a collective.
enum class Flow : uint8_t {
  kNothing,  // none for any
  kBarrier,
  kFromRoot,
  kToRoot,
  kScan,  // ranks for those below them
  kAll,   // each for all
  kNeighbours,
  kWindow,
  kFence,
  kFile,
  kInit,
  kFinalize,
  kWorlds,  // with processes of other worlds
};

// How long a buffer is. `count`, `displs` and `type` are parameters.
enum class Extent : uint8_t {
  kUnknown,
  kElements,  // times * count elements of type
  kBlocks,    // block i: counts[i] elements of type or types[i], at displs[i]: extents of type, or
              // bytes where there are types
  kSum,       // of counts[], elements of type
  kOwn,       // counts[rank] elements of type
  kBytes,     // count bytes
};

enum class Times : uint8_t {
  kOnce,
  kSize,       // of the communicator; of the remote group if there is one
  kLocalSize,  // of the local group
  kInDegree,   // of the communicator's topology
  kOutDegree,
  kParts,  // what times_param says
};

struct BufferInfo {
  int8_t param;  // -1: memory of the target's window, at target_disp
  bool is_read, is_written;
  bool may_be_in_place;  // MPI_IN_PLACE: then the call's other buffer is read as well as written
  bool at_root_only;     // of the communicator's ranks
  bool is_read_at_root;  // and written by the others (MPI_Bcast)
  Extent extent;
  Times times;
  int8_t count_param;                            // -1: one element
  int8_t displs_param, type_param, times_param;  // -1: none
};

// How a recorded call is made again. Idea of replaying calls from a compressed trace: ScalaReplay,
// which ACURDION's section V uses to judge its clusters.
enum class Reissue : uint8_t {
  kPlain,    // with the recorded inputs, and handles of its own for the recorded ones
  kForced,   // the same, and made to end as recorded: what a wildcard took, a test that failed
  kStandIn,  // a function, path, name, attribute or hint of the program's is replaced by one of
             // ours
  kLocal,    // of its own process alone, and no other call depends on it: may be left out
  kRefused,  // not at all; `refused` says why
};

struct CallMeaning {
  CallId plain;   // the blocking function whose form it is; itself if it is that
  uint16_t does;  // bits of Does
  How how;
  SendMode mode;
  Flow flow;          // of a collective
  int8_t over_param;  // the communicator that it is collective over where `comm_param` does not say
  std::span<const BufferInfo> buffers;
  Reissue reissue;
  std::string_view refused;  // why it is not made again, as the end of a sentence; else empty

  bool does_any(unsigned what) const { return (does & what) != 0; }
};

std::string_view to_string(Reissue reissue);

// Of a function that nobody knows: local, a form of itself, and refused.
const CallMeaning& meaning_of(CallId id);

// The blocking function that `id` is a form of: MPI_Bcast of MPI_Ibcast_c. `id` itself where nobody
// knows it.
inline CallId plain_call(CallId id) {
  const CallId plain = meaning_of(id).plain;
  return plain == 0 ? id : plain;
}

}  // namespace refrain::mpi
