// PostedTable: operations under way that fill memory, by their requests; and those without request
// by their windows.
//
// Handles are MPI's: it may give the same one to several requests, which the variable that each was
// made in tells apart. Threads: the caller holds a lock where calls of several may overlap, and the
// entries that it was given stay where they are until it removes them. MPI may give the handle of a
// request that a call completes out again before that call has returned to us. So a call claims the
// entries that it may complete: no other call finds them until it has removed them or let go.
//
// Laws: entries are used again; a request that fills bytes in a row allocates nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tracer/messages/fill.h"
#include "tracer/tables/key_index.h"

namespace refrain::tracer {

struct CommInfo;

// Whose data fills the memory.
struct Origin {
  const CommInfo* comm = nullptr;  // of a message: a status says from which rank of it
  bool is_inside = false;          // of anything else: of ranks of our own group only
  bool is_local = false;           // of this process: MPI_Unpack and the like
  bool is_file = false;            // then a status says how much came, and nothing else
};

struct Posted {
  Fill fill;
  Origin origin;
  const void* variable = nullptr;  // where the program was given the handle
  bool persistent = false;
  bool by_status = false;  // the status says how much came: a receive, a file
  bool active = true;
  bool is_kept = false;        // MPI_Request_get_status has found it complete, and it is in the log
  bool is_claimed = false;     // a call of a thread beside others is about to complete it
  uint64_t partitions = 0;     // of a partitioned receive
  std::vector<bool> arrived;   // these are in the log
  uint32_t index = 0;          // of this entry
  uint32_t next = UINT32_MAX;  // the next one with the same handle; none
};

class PostedTable {
 public:
  // A new entry, which is to be filled in.
  Posted& add(uint64_t request);
  // Null: none that fills memory, or another call has it. Without that variable: the oldest one.
  Posted* find(uint64_t request, const void* variable);
  void remove(uint64_t request, Posted* posted);
  bool empty() const { return count_ == 0; }

 private:
  static constexpr uint32_t kBlock = 64;  // entries of a block
  Posted& at(uint32_t index) { return blocks_[index / kBlock][index % kBlock]; }

  KeyIndex heads_;  // request -> the oldest entry; nearly always the only one
  std::vector<std::unique_ptr<Posted[]>> blocks_;
  std::vector<uint32_t> free_;
  uint32_t made_ = 0;  // entries of the blocks that were ever used
  size_t count_ = 0;
};

// What MPI_Get and the like bring once a synchronisation has completed them.
struct Fetch {
  Fill fill;
  Origin origin;
  int target = 0;
  uint32_t thread = 0;  // the call that asked for it
  uint64_t number = 0;
};

class FetchTable {
 public:
  void add(uint64_t window, Fetch fetch) { by_window_[window].push_back(std::move(fetch)); }
  // Takes those out, in their order, that go to `target`; all for a negative one.
  std::vector<Fetch> take(uint64_t window, int target);

 private:
  std::unordered_map<uint64_t, std::vector<Fetch>> by_window_;
};

}  // namespace refrain::tracer
