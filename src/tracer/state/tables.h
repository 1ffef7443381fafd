// Tables: the data on calls and objects that the threads of a rank share.
//
// Laws: written under Tables::Guard, which costs a branch unless the program asked for
// MPI_THREAD_MULTIPLE. The tables that a call with a known signature needs (signatures,
// request_pools, left_out, handles, comms; requests have their own rules) are read without the lock
// while another thread may write. So the lock is taken by: the first call with a signature or from
// a call site; calls that create or free communicators, datatypes and other objects; losses; one
// call in 1024, to make room in the sink. With --memory the first two tables may be emptied
// (table_epochs.h), so every call that must be encoded reads them with the lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "format/trace_data.h"
#include "mpi_runtime/handle_map.h"
#include "tracer/requests/request_lanes.h"
#include "tracer/requests/request_pools.h"
#include "tracer/state/comm_info.h"
#include "tracer/state/record_sink.h"
#include "tracer/tables/id_pool.h"
#include "tracer/tables/intern_table.h"
#include "tracer/tables/stable_array.h"

namespace refrain::tracer {

struct Location;

class Tables {
 public:
  // Held while a shared table is touched; free of cost with a single thread.
  class Guard {
   public:
    explicit Guard(Tables& t, bool is_needed = true)
        : mutex_(is_needed && t.threaded ? &t.mutex_ : nullptr) {
      if (mutex_ != nullptr) mutex_->lock();
    }
    ~Guard() {
      if (mutex_ != nullptr) mutex_->unlock();
    }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

   private:
    std::mutex* mutex_;
  };

  // MPI_THREAD_MULTIPLE was granted to the thread that calls; no other thread is in here.
  void begin_threads();
  bool threaded = false;
  RecordSink* sink = nullptr;  // null: none; never freed

  // ---- definitions ----
  // Index of a definition, lock held; refs are indices of earlier ones.
  uint32_t define(format::DefinitionKind kind, std::string_view payload,
                  const uint32_t* refs = nullptr, size_t ref_count = 0);
  // The same; the lock is taken if it is a new one.
  uint32_t define_once(format::DefinitionKind kind, std::string_view payload, const uint32_t* refs,
                       size_t ref_count);
  const format::Definition& definition(uint32_t index) const { return definitions[index]; }
  std::vector<format::Definition> definitions;
  std::vector<format::LossRecord> losses;

  // ---- objects ----
  // The definition of a live object, HandleMap::kMissing if there is none.
  uint32_t definition_of(format::DefinitionKind kind, uint64_t key);
  // Handles change through these two only, so that what encoders remember of them can be told
  // stale.
  void remember(format::DefinitionKind kind, uint64_t key, uint32_t def) {
    handles.put(kind, key, def);
    handle_changes.fetch_add(1, std::memory_order_relaxed);
  }
  void forget(format::DefinitionKind kind, uint64_t key) {
    handles.erase(kind, key);
    handle_changes.fetch_add(1, std::memory_order_relaxed);
  }
  HandleMap handles;
  // Handles that MPI has given out again for an object that was there (symbolic/encoder.h): how
  // often more than once.
  HandleMap further_references;
  std::atomic<uint64_t> handle_changes{0};
  // Objects that calls under way free; with several threads only.
  struct Ending {
    format::DefinitionKind kind;
    uint64_t key;
    uint32_t def;
  };
  std::vector<Ending> ending;
  IdPool ids[32];  // by DefinitionKind
  // Of types that no recorded call made (symbolic/datatypes.cc), by what they are.
  std::unordered_map<std::string, uint32_t> described_types;
  StableArray<CommInfo*> comms;  // by definition index; null where it is none; never freed

  // ---- signatures ----
  // Index in a table that all threads use; the lock is taken if it has to be added.
  uint32_t intern(InternTable& table, std::string_view bytes);
  // The terminal of a signature that was not found without the lock, which is held now; `hash` is
  // InternTable::hash_of(bytes). A new one has its place in `first_ticks` and in the sink before
  // another thread can come across it.
  uint32_t make_terminal(std::string_view bytes, uint32_t hash, bool* is_new = nullptr);
  bool is_bounded() const { return asks_from == 0; }
  InternTable signatures;  // terminal = index
  static constexpr uint64_t kNotCalled = UINT64_MAX;
  // Duration of the call that made each terminal; others: CallMemo.
  std::vector<uint64_t> first_ticks;
  InternTable left_out;                       // of calls that are left out and made a request
  std::atomic<uint64_t> unrecorded_calls{0};  // after there was no memory
  // See table_epochs.h: the number of the first signature above, and how often they began anew.
  std::vector<uint32_t> table_begins;  // first terminals of tables that began anew
  uint32_t first_terminal = 0, tables = 0;
  size_t asks_from = 64 * 1024;  // growth of the tables; what is less is in reserve: memory.h
  size_t tables_end = 0;         // what the recorder holds when they begin anew; 0: not known yet

  // ---- requests and threads ----
  RequestPools request_pools;  // signature without its request -> pool
  RequestLanes requests;
  std::vector<Location*> locations;

 private:
  InternTable definition_index_;
  std::mutex mutex_;
};

}  // namespace refrain::tracer
