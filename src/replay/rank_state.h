// RankState: what the threads of a replayed rank share.
//
// One lock is over all of it. A thread holds it whenever it is in the engine, and lets go while it
// is in MPI, sleeps or waits. A rank with one thread takes no lock at all.
#pragma once

#include <mpi.h>

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "mpi/call_table.h"
#include "refrain/ids.h"
#include "replay/arguments.h"
#include "replay/memory.h"
#include "replay/threads/thread_order.h"

namespace refrain::replay {

// What was done otherwise than recorded, and how often.
struct Counts {
  uint64_t calls = 0, skipped = 0, left_out = 0, by_another = 0, masked = 0, infos = 0;
  uint64_t tags = 0, types = 0;  // in the place of those that this MPI lacks
};

struct RankState {
  RankState(uint64_t limit_bytes, uint64_t seed, std::shared_ptr<FixedPages> of_process)
      : arena(limit_bytes, seed), pages(std::move(of_process)) {
    made.push_back(std::make_unique<Made>());
  }

  using ObjectKey = std::pair<mpi::ParamKind, int64_t>;
  // A persistent receive from anybody, and what receives in its place (persistent.cc).
  struct Anybody {
    void* buffer = nullptr;
    int64_t count = 0;
    uint64_t type = 0, comm = 0;                   // handles; the type is a copy
    std::optional<ObjectKey> comm_name;            // of one that the program has made
    int source = 0, tag = 0;                       // as posted
    std::map<std::pair<int, int>, uint64_t> made;  // handles by source and tag
    std::pair<int, int> current;                   // of them, the request's
  };
  struct Request {
    uint64_t key = 0;
    bool is_persistent = false, is_active = true;
    bool has_nobody = false;  // persistent, with MPI_PROC_NULL (with_nobody.h)
    std::vector<Arena::Block> blocks;
    std::unique_ptr<Arguments> arguments;  // arrays that the library may still look at
    std::unique_ptr<Anybody> anybody;      // of a persistent receive from anybody
  };

  // What a thread has made. Names are unique among what is alive at one time in the program, but
  // threads of a replay get on otherwise: so each name counts in the thread that gave it.
  struct Made {
    std::map<ObjectKey, uint64_t> objects;
    // Handles of objects that MPI has given out again, before the one in `objects`.
    std::map<ObjectKey, std::vector<uint64_t>> earlier;
    std::map<ObjectKey, std::vector<Arena::Block>> kept;  // memory of windows
    std::unordered_map<SignatureId, Request> requests;
  };
  Made& made_by(uint32_t thread) { return *made[thread]; }
  // Before the threads begin: they look for their places without the lock.
  void make_places(size_t threads) {
    while (made.size() < threads) made.push_back(std::make_unique<Made>());
  }

  // Memory that is attached to a dynamic window, as the trace names it.
  struct AttachedBlock {
    ObjectKey window;
    uint32_t place = 0;
    int64_t number = 0, offset = 0;
    void* address = nullptr;
  };
  Arena arena;
  Counts counts;
  std::set<std::pair<uint64_t, int64_t>> open_epochs;  // by window, and which (epochs.cc)
  std::vector<std::unique_ptr<Made>> made;             // by thread
  std::unordered_map<DefinitionId, uint32_t> predefined;
  std::map<std::string, std::string> names;            // of ports and services: recorded, and ours
  std::vector<Arena::Block> in_epoch;                  // buffers of accesses to windows
  std::vector<Arena::Block> attached;                  // buffers, in the order of attaching
  std::vector<void*> allocated;                        // by MPI_Alloc_mem
  std::set<uint64_t> defined_types;                    // made from definitions (definitions.cc)
  std::map<std::pair<int, int>, MPI_Status> statuses;  // by source and tag: the last ones
  MPI_Status made_status{};  // by the program's own hand, for a request of its own
  uint64_t held_session = 0, empty_info = 0;
  uint64_t started_jobs = 0;  // of which this rank was the root
  std::set<ObjectKey> dynamic_windows;
  std::vector<AttachedBlock> attached_blocks;  // in the order of attaching
  std::shared_ptr<FixedPages> pages;           // of the process

  // ---- threads ----
  bool has_threads = false;
  ThreadOrder order;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<uint64_t> returned;      // calls of each thread that have
  std::optional<base::Error> failure;  // of the first thread that had one
  std::vector<std::thread> workers;
  uint32_t threads_there = 0;            // in the order of their numbers
  uint64_t wanted_ns = 0, spent_ns = 0;  // of all threads but the first: see Pace

  void lock() {
    if (has_threads) mutex.lock();
  }
  void unlock() {
    if (has_threads) mutex.unlock();
  }
};

// While it lives, other threads of the rank may get on.
class OthersMayGo {
 public:
  explicit OthersMayGo(RankState& state) : state_(state) { state_.unlock(); }
  ~OthersMayGo() { state_.lock(); }
  OthersMayGo(const OthersMayGo&) = delete;
  OthersMayGo& operator=(const OthersMayGo&) = delete;

 private:
  RankState& state_;
};

}  // namespace refrain::replay
