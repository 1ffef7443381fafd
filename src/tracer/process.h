// Process: what the recorder knows of one MPI process (rank), shared by its threads.
//
// Laws: nothing here runs before the first MPI call of the process, nothing throws, nothing aborts
// the program. Every shared table is reached under Process::Guard, which costs a branch unless the
// program asked for MPI_THREAD_MULTIPLE.
#pragma once

#include <mpi.h>

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "base/runs.h"
#include "format/trace_data.h"
#include "mpi/call_table.h"
#include "tracer/addresses.h"
#include "tracer/call_memo.h"
#include "tracer/clock.h"
#include "tracer/handle_map.h"
#include "tracer/intern_table.h"
#include "tracer/requests.h"

namespace refrain::tracer {

class CallScope;
class Spool;
struct Location;

// What is known of a live communicator beside its definition; indexed by definition.
struct CommInfo {
  bool inter = false;
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
  uint32_t call_path_depth = 8;     // 0: no call sites at all
  size_t grammar_bytes = SIZE_MAX;  // of one location
};

class Process {
 public:
  // Held while a shared table is touched; free of cost with a single thread.
  class Guard {
   public:
    explicit Guard(Process& p) : mutex_(p.threaded ? &p.mutex_ : nullptr) {
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

  // Index of a definition; refs are indices of earlier ones.
  uint32_t define(format::DefinitionKind kind, std::string_view payload,
                  const uint32_t* refs = nullptr, size_t ref_count = 0);
  const format::Definition& definition(uint32_t index) const { return definitions[index]; }

  // Call site or callback address -> definition (kSite), or UINT32_MAX when it lies in no module.
  uint32_t define_site(uintptr_t address);
  // A call path (kPath): sites, innermost first.
  uint32_t define_path(const uint32_t* sites, size_t n);
  // Whether code at `address` is the recorder's.
  bool is_own_code(uintptr_t address);
  // Whether code at `address` belongs to the C library or the dynamic linker.
  bool is_system_code(uintptr_t address);
  // Whether code at `address` belongs to the MPI library (or to the recorder) and not to the
  // program.
  bool is_mpi_code(uintptr_t address);

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
  uint64_t own_ticks = 0;   // the recorder's work in MPI_Init and MPI_Finalize
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
  IdPool ids[32];                    // by DefinitionKind
  std::vector<CommInfo*> comms;      // by definition index; null where it is none; never freed
  InternTable signatures;            // terminal = index
  std::vector<TerminalStats> stats;  // of the first call of each terminal; others: CallMemo
  InternTable request_pools;         // signature without its request -> pool
  InternTable left_out;              // of calls that are left out and made a request
  RequestTable requests;
  std::vector<uint32_t> pool_of_terminal;  // for terminals that create requests
  std::vector<format::Definition> definitions;
  std::vector<Location*> locations;
  AddressMap addresses;
  std::vector<format::Loss> losses;
  Spool* spool = nullptr;                     // null: none; never freed
  std::atomic<uint64_t> unrecorded_calls{0};  // after there was no memory

 private:
  friend class Guard;
  const Module* module_at(uintptr_t address);
  InternTable definition_index_;
  std::mutex mutex_;
};

// The calling process; made on first use. See current.h.
Process& process();

}  // namespace refrain::tracer
