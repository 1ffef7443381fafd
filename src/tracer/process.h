// Process: what the recorder knows of one MPI process (rank), shared by its threads.
//
// Laws: nothing here runs before the first MPI call of the process, nothing throws, nothing aborts
// the program. Shared tables are written under Process::Guard, which costs a branch unless the
// program asked for MPI_THREAD_MULTIPLE. Those that a call looks into whose signature is known
// (signatures, request_pools, left_out, handles, comms, addresses, call paths; requests have rules
// of their own) are read without it, beside a writer. So the lock is taken by: the first call of a
// signature or from a place; calls that make or free communicators, datatypes and other objects;
// what is counted as lost; one call in 1024, for its room in the spool.
// Under --memory the first two may begin anew (table_epochs.h): they are read with the lock, by
// every call that has to be encoded.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/runs.h"
#include "format/trace_data.h"
#include "mpi/call_table.h"
#include "tracer/addresses.h"
#include "tracer/call_memo.h"
#include "tracer/clock.h"
#include "tracer/handle_map.h"
#include "tracer/intern_table.h"
#include "tracer/request_lanes.h"
#include "tracer/request_pools.h"
#include "tracer/stable_array.h"

namespace refrain::tracer {

class CallScope;
class Spool;
class PathCheck;
class CallTimes;
struct Location;

// What is known of a live communicator beside its definition; indexed by definition.
struct CommInfo {
  bool inter = false;
  bool of_threads = false;  // MPICH's: its ranks are threads, and `rank` is this process's first
  int rank = 0, size = 0, remote_size = 0;
  int family = -1, member = 0;  // see comm_ids.h
  base::RunList local, remote;  // world ranks
  // Lengths of the neighbourhood, -1 until asked for.
  int in_degree = -1, out_degree = -1;
};

struct Options {
  std::string output;  // absolute path of the trace
  std::string program, command;
  std::string filter;  // what is left out, in words; empty: nothing
  bool quiet = false;
  bool totals = true;               // what the file has for each rank
  uint32_t call_path_depth = 8;     // 0: no call sites at all
  size_t memory_bytes = SIZE_MAX;   // of all that recording holds
  size_t grammar_bytes = SIZE_MAX;  // of one location
};

class Process {
 public:
  // Held while a shared table is touched; free of cost with a single thread.
  class Guard {
   public:
    explicit Guard(Process& p, bool is_needed = true)
        : mutex_(is_needed && p.threaded ? &p.mutex_ : nullptr) {
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

  void start();  // options from the environment, clock, address map

  // Index of a definition, lock held; refs are indices of earlier ones.
  uint32_t define(format::DefinitionKind kind, std::string_view payload,
                  const uint32_t* refs = nullptr, size_t ref_count = 0);
  const format::Definition& definition(uint32_t index) const { return definitions[index]; }

  // Call site or callback address -> definition (kSite), or UINT32_MAX when it lies in no module.
  uint32_t define_site(uintptr_t address);
  // A call site in a source file that no module is made of: of Python.
  uint32_t define_source_site(std::string_view file, std::string_view function, int line);
  // The definition of a live object, HandleMap::kMissing if there is none.
  uint32_t definition_of(format::DefinitionKind kind, uint64_t key);
  // Index in a table that all threads use; the lock is taken if it has to be added.
  uint32_t intern(InternTable& table, std::string_view bytes);
  // The terminal of a signature that was not found without the lock, which is held now; `hash` is
  // InternTable::hash_of(bytes). A new one has its place in `first_ticks` and in the spool before
  // another thread can come across it.
  uint32_t make_terminal(std::string_view bytes, uint32_t hash, bool* is_new = nullptr);
  // MPI_THREAD_MULTIPLE was granted to the thread that calls; make_location()'s lock held.
  void begin_threads();
  // A call path (kPath): sites, innermost first.
  uint32_t define_path(const uint32_t* sites, size_t n);
  // A library was unloaded: addresses in it belong to nothing, or to what was loaded since.
  void forget_unloaded();
  // Whether code at `address` is the recorder's.
  bool is_own_code(uintptr_t address);
  // Whether code at `address` belongs to the C library or the dynamic linker.
  bool is_system_code(uintptr_t address);
  // Whether code at `address` belongs to the MPI library (or to the recorder) and not to the
  // program.
  bool is_mpi_code(uintptr_t address);
  // What holds the code of a Python interpreter; null: there is none, or nobody wants its frames.
  const Module* interpreter() const { return interpreter_.load(std::memory_order_relaxed); }
  // What holds the code at `address`; null: nothing that was loaded.
  const Module* module_at(uintptr_t address);

  void lose(const char* reason, const char* detail = "");

  Options options;
  Clock clock;
  bool threaded = false;          // MPI_THREAD_MULTIPLE was granted
  bool threads_anywhere = false;  // to some rank of MPI_COMM_WORLD
  bool initialized = false;
  int rank = 0, size = 1;
  MPI_Comm comm = MPI_COMM_NULL;  // private duplicate of MPI_COMM_WORLD
  MPI_Group world_group = MPI_GROUP_NULL;
  uint64_t init_ticks = 0;  // begin of MPI_Init
  uint64_t end_ticks = 0;   // the program is in MPI_Finalize; 0: not yet
  format::RankPlace place;  // see cores.h
  uint64_t switches = 0;    // until MPI_Init; then, once the run has ended, during it
  int pid = 0;
  bool ends_in_finalize = false;  // a callback of our own will run inside of it
  CallScope* finalize = nullptr;  // MPI_Finalize under way

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
  std::atomic<uint64_t> handle_changes{0};
  // Objects that calls under way free; with several threads only.
  struct Ending {
    format::DefinitionKind kind;
    uint64_t key;
    uint32_t def;
  };
  std::vector<Ending> ending;
  IdPool ids[32];                // by DefinitionKind
  StableArray<CommInfo*> comms;  // by definition index; null where it is none; never freed
  static constexpr uint64_t kNotCalled = UINT64_MAX;
  // See table_epochs.h: the number of the first signature below, and how often they began anew.
  std::vector<uint32_t> table_begins;  // first terminals of tables that began anew
  uint32_t first_terminal = 0, tables = 0;
  size_t asks_from = 64 * 1024;  // growth of the tables; what is less is in reserve: memory.h
  size_t tables_end = 0;         // what the recorder holds when they begin anew; 0: not known yet
  bool is_bounded() const { return asks_from == 0; }
  InternTable signatures;  // terminal = index
  // Duration of the call that made each terminal; others: CallMemo.
  std::vector<uint64_t> first_ticks;
  RequestPools request_pools;  // signature without its request -> pool
  InternTable left_out;        // of calls that are left out and made a request
  RequestLanes requests;
  std::vector<format::Definition> definitions;
  std::vector<Location*> locations;
  AddressMap addresses;
  std::vector<format::Loss> losses;
  Spool* spool = nullptr;                     // null: none; never freed
  CallTimes* times = nullptr;                 // null: no times of single calls; never freed
  PathCheck* path_check = nullptr;            // null: call paths are not checked; never freed
  std::atomic<uint64_t> unrecorded_calls{0};  // after there was no memory

 private:
  friend class Guard;
  const Segment* segment_at(uintptr_t address);
  // The same as define(); the lock is taken if it is a new one.
  uint32_t define_once(format::DefinitionKind kind, std::string_view payload, const uint32_t* refs,
                       size_t ref_count);
  InternTable definition_index_;
  void see_what_is_loaded();
  uint32_t unloads_ = 0;  // that `addresses` knows of
  std::atomic<const Module*> interpreter_{nullptr};
  std::mutex mutex_;
};

// The calling process; made on first use. See current.h.
Process& process();

}  // namespace refrain::tracer
