// Inside: what a group of ranks that runs together has of a real MPI (`refrain solo --group`).
//
// Each rank of the group is a process of one job, and answers its program from trace and log as a
// rank alone does. Beside that, what ranks of the group sent to each other is sent again: point to
// point, and by collectives of which all ranks are in the group. Messages are bytes, on a shadow of
// each communicator that has the members within the group; receives take what they took when they
// were recorded. So a log need not have the contents of messages within the group.
//
// Handles that the program sees stay those of the stand-in; requests of the real MPI are kept with
// them (RealRequest). Everything else, also one-sided accesses and files, comes from the log. What
// was made again for a record that the log has as well is overwritten with the same bytes.
//
// Laws: the real MPI is called here alone, with OwnFiles in place. Threads: programs with several
// threads that call MPI are refused, as a call that waits for another rank holds Player's lock.
//
// After "PHANTOM" (2010), sections 4.1 and 5.3: the ranks of one node are replayed together.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "events/comms.h"
#include "events/op.h"
#include "mpi/typemap.h"
#include "refrain/trace.h"

namespace refrain::replay::solo {

// A communicator's members within the group, by their ranks in it.
struct Shadow {
  MPI_Comm comm = MPI_COMM_NULL;
  Communicator original;
  std::vector<Rank> members;  // world ranks
  bool is_whole = false;      // no member is outside
};

// One end of a message within the group.
struct RealEnd {
  std::byte* at = nullptr;
  uint64_t count = 0;
  mpi::TypeMap type;
  MPI_Comm comm = MPI_COMM_NULL;
  int peer = 0, tag = 0;  // in the shadow
  bool is_synchronous = false, is_buffered = false;

  uint64_t bytes() const { return count * static_cast<uint64_t>(type.size()); }
};

// What a request of the program has under way, or would have when it is started.
struct RealRequest {
  MPI_Request request = MPI_REQUEST_NULL;
  RealEnd end;
  bool sends = false;
  bool is_open = false;                  // a receive that took what it was forced to
  std::vector<std::byte> packed;         // of data with gaps
  std::vector<std::vector<int>> arrays;  // counts and the like of a collective
  std::vector<std::byte> in_place;
};

struct Inside {
  Inside(const Trace& trace, RankReader& reader, Rank first_rank, Rank last_rank)
      : first(first_rank), last(last_rank), comms(trace), decoder(reader, comms, places) {}

  bool has(Rank rank) const { return rank >= first && rank <= last; }
  // Null: it has no members here, or is between two groups.
  const Shadow* shadow(DefinitionId definition) const {
    const auto known = shadows.find(definition);
    return known == shadows.end() ? nullptr : &known->second;
  }

  Rank first, last;
  events::CommTable comms;
  events::Decoder::Places places;
  events::Decoder decoder;
  std::map<DefinitionId, Shadow> shadows;
  // Sends that nobody waits for any more.
  std::vector<std::shared_ptr<RealRequest>> pending;
  // Messages that matched probes took: by message object, from whom in which communicator.
  struct Taken {
    const Shadow* shadow = nullptr;
    Rank source = -1;
    int64_t tag = 0;
  };
  std::map<int64_t, Taken> taken;
  // By request: receives under way that were posted for any message.
  std::map<SignatureId, uint32_t> open;
  bool is_running = false;
};

// PMPI_X of the MPI library itself, behind the stand-in: REFRAIN_BEHIND(Send)(...).
void* find_behind(const char* name);
#define REFRAIN_BEHIND(name)                                               \
  ([] {                                                                    \
    static const auto function = reinterpret_cast<decltype(&PMPI_##name)>( \
        refrain::replay::solo::find_behind("PMPI_" #name));                \
    return function;                                                       \
  }())

}  // namespace refrain::replay::solo
