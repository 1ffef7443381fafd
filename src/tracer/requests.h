// Live requests: which call made each, and what its completion means.
//
// A request is known by the terminal of the call that created it; among the requests of one
// signature the position in a pool tells them apart (Pilgrim 3.4.3). MPI libraries hand out one
// shared handle for several sends that are complete at once, so a handle value may stand for
// several requests: they are kept in order, and told apart by the address of the program's variable
// where that helps.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "tracer/handle_map.h"

namespace refrain::tracer {

struct RequestTraits {
  bool persistent = false;
  bool is_receive = false;
  int source = 0;  // as posted, for receives
  int tag = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  bool partitioned = false;
  MPI_Comm* newcomm = nullptr;  // MPI_Comm_idup: what the completion delivers
};

struct RequestEntry {
  uint64_t key = 0;
  const void* variable = nullptr;
  uint32_t terminal = 0;
  uint32_t pool = 0;      // index of the base signature
  uint32_t position = 0;  // in that pool
  uint32_t next = 0;      // next live entry with the same key, kNone at the end
  RequestTraits traits;
  bool wildcard = false;
  bool generalized = false;  // its status is what the program's own callback says
  bool active = false;
  bool live = false;
  bool claimed = false;  // a completion call under way holds it
};

class RequestTable {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  uint32_t take_position(uint32_t pool);
  uint32_t next_position(uint32_t pool) {
    return pools_[pool].next();
  }  // what take_position() gives
  // Returns the entry's index.
  uint32_t add(const RequestEntry& entry);
  // The request that `key`, read from `variable`, stands for: among those that share the handle
  // value and are not claimed, the one that was stored in that variable, else the oldest. kNone
  // when unknown.
  uint32_t find(uint64_t key, const void* variable) const;
  RequestEntry& at(uint32_t index) { return entries_[index]; }
  void remove(uint32_t index);

 private:
  std::vector<RequestEntry> entries_;
  std::vector<uint32_t> free_;
  std::vector<IdPool> pools_;
  HandleMap heads_;
};

}  // namespace refrain::tracer
