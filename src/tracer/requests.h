// Live requests: which call made each, and what its completion means.
//
// Laws: every operation costs the same however many requests are outstanding.
//
// A request is known by the terminal of the call that created it; among the requests of one
// signature the position in a pool tells them apart (Pilgrim 3.4.3). MPI libraries hand out one
// shared handle for several sends that are complete at once, so a handle value may stand for
// several requests: they are kept in a chain in order of creation, and told apart by the address of
// the program's variable where that helps. An index by variable is kept for such shared handles
// only. A request that a completion call under way holds is *claimed* and out of its chain (unless
// it is alone in it), so that finding the next one takes no walk.
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
  // The chain of unclaimed entries with the same key, in order; kNone at the ends.
  uint32_t next = 0, previous = 0;
  uint32_t tail = 0;  // of the chain that this entry heads
  RequestTraits traits;
  bool wildcard = false;
  bool generalized = false;  // its status is what the program's own callback says
  bool active = false;
  bool live = false;
  bool claimed = false;  // a completion call under way holds it
  bool linked = false;   // in its chain
  bool indexed = false;  // in the index by variable
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
  // Between them find() passes the entry by. What is not over goes back to the front of its chain:
  // several are given back in reverse order.
  void claim(uint32_t index);
  void give_back(uint32_t index);
  // Claims whose calls were left by a jump.
  void give_back_all();

 private:
  static constexpr uint64_t variable_key(uint64_t key, const void* variable) {
    return key ^ (reinterpret_cast<uintptr_t>(variable) * 0x9e3779b97f4a7c15u);
  }
  bool alone(const RequestEntry& e) const { return e.next == kNone && e.previous == kNone; }
  void index_by_variable(uint32_t index);
  void link_last(uint32_t index);
  void link_first(uint32_t index);
  void unlink(uint32_t index);

  std::vector<RequestEntry> entries_;
  std::vector<uint32_t> free_;
  std::vector<IdPool> pools_;
  HandleMap heads_;        // key -> first of its chain
  HandleMap by_variable_;  // variable_key() -> entry, for keys that several entries share
};

}  // namespace refrain::tracer
