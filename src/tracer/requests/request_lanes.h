// RequestLanes: the requests of a process, a table (lane) for each of its threads.
//
// Picture: a thread has a lane to itself, and nearly always it completes what it made.
//
//     thread 0 -> lane 0: 0, 1, 2 ...        own: OwnLane, a store and a load to get in
//     thread 1 -> lane 1: 2^20, 2^20 + 1 ... another's: AllLanes, a lock that stops everybody
//     thread 2 -> lane 2: 2^21 ...           a thread that ends leaves its lane to the next one
//
// Laws: without MPI_THREAD_MULTIPLE there is one lane, which is entered at no cost. With it, the
// owner enters its lane by setting `busy` and testing `foreign`. A thread that needs the lanes of
// others takes the lock, sets `foreign` in all lanes, makes every processor that runs a thread of
// the process pass a barrier (membarrier), and waits until no lane is `busy`. An owner that finds
// `foreign` set takes the lock. So at least one of the two sees the other, and the owner needs
// neither a barrier nor an atomic read-modify-write (an asymmetric form of Dekker's algorithm).
// Without membarrier, `foreign` is always set. No other lock is taken inside. Budget: 6
// instructions for the owner, some microseconds for a request of another thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "tracer/requests/requests.h"

namespace refrain::tracer {

class RequestLanes;

struct RequestLane {
  // Positions in pools that stand for this lane's: see number_of().
  static constexpr uint32_t kPositions = uint32_t{1} << 20;
  // The last one is for all threads that there is no other left for.
  static constexpr uint16_t kShared = 2047;

  RequestLane(RequestLanes& lanes, uint16_t n) : table(n), all(lanes), number(n) {}

  RequestTable table;
  RequestLanes& all;
  const uint16_t number;
  bool has_neighbours = false;  // MPI_THREAD_MULTIPLE; never false again
  bool is_taken = false;
  RequestLane* partner = nullptr;  // whose request was completed here at last
  std::atomic<uint32_t> busy{0}, foreign{0};
};

class RequestLanes {
 public:
  RequestLanes();

  // The lane of a thread that is new.
  RequestLane& join();
  // A thread ends: what it has left behind goes to the next one with the lane. The result is for
  // what it may still do, in destructors of its own.
  RequestLane& leave(RequestLane& lane);
  // MPI_THREAD_MULTIPLE was granted. Lane 0 stays with the thread that calls; who shares it with
  // that one must join() anew.
  void begin_threads();
  bool has_threads() const { return has_threads_; }

  // The number that a position of a lane has in the trace: unique in the process.
  uint32_t number_of(const RequestLane& lane, uint32_t position) {
    if (position >= RequestLane::kPositions && lane.has_neighbours) [[unlikely]]
      return kBeyond + beyond_.fetch_add(1, std::memory_order_relaxed);
    return lane.number * RequestLane::kPositions + position;
  }

  // Handle values that MPI hands out for several requests at once.
  bool is_shared_handle(uint64_t key) const {
    const uint32_t n = shared_count_.load(std::memory_order_acquire);
    for (uint32_t i = 0; i < n; ++i)
      if (shared_[i].load(std::memory_order_relaxed) == key) return true;
    return false;
  }
  void note_shared_handle(uint64_t key);

 private:
  friend class OwnLane;
  friend class AllLanes;
  static constexpr uint32_t kMaxShared = 16;
  static constexpr uint32_t kBeyond = uint32_t{1} << 31;

  template <class F>
  void for_each(F f) {
    for (const auto& lane : lanes_) f(*lane);
    if (shared_lane_ != nullptr) f(*shared_lane_);
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<RequestLane>> lanes_;  // by number, from 0 on
  std::unique_ptr<RequestLane> shared_lane_;
  bool has_threads_ = false, has_barrier_ = false;
  std::atomic<uint32_t> beyond_{0};
  std::atomic<uint64_t> shared_[kMaxShared] = {};
  std::atomic<uint32_t> shared_count_{0};
};

// What the thread sanitizer cannot see, membarrier, is an order of all these there.
#if defined(__SANITIZE_THREAD__)
inline constexpr auto kToSayBusy = std::memory_order_seq_cst;
inline constexpr auto kToAskForeign = std::memory_order_seq_cst;
#else
inline constexpr auto kToSayBusy = std::memory_order_relaxed;
inline constexpr auto kToAskForeign = std::memory_order_acquire;
#endif

// While it lives, the lane's own thread may work in its table. No lock is taken meanwhile.
class OwnLane {
 public:
  explicit OwnLane(RequestLane& lane) : lane_(lane) {
    if (!lane.has_neighbours) return;
    lane.busy.store(1, kToSayBusy);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (lane.foreign.load(kToAskForeign) != 0) [[unlikely]]
      enter_locked();
  }
  ~OwnLane() {
    if (!lane_.has_neighbours) return;
    if (!is_locked_) [[likely]]
      lane_.busy.store(0, std::memory_order_release);
    else
      leave_locked();
  }
  OwnLane(const OwnLane&) = delete;
  OwnLane& operator=(const OwnLane&) = delete;

  RequestTable* operator->() { return &lane_.table; }

 private:
  void enter_locked();
  void leave_locked();

  RequestLane& lane_;
  bool is_locked_ = false;
};

// A request that the owner of the lane has made; also says so when MPI gives its handle out for
// several of them. The result stays where it is for ever.
const RequestEntry& add_request(RequestLane& lane, const RequestEntry& entry);
bool add_request_again(RequestLane& lane, RequestEntry& entry, uint64_t key, const void* variable);

// While it lives, all lanes hold still.
class AllLanes {
 public:
  explicit AllLanes(RequestLane& own);
  ~AllLanes();
  AllLanes(const AllLanes&) = delete;
  AllLanes& operator=(const AllLanes&) = delete;

  // The request that `key`, read from `variable`, stands for: the one that was stored in that
  // variable, else one of our own, else of whom we had one before, else anybody's. Null when
  // unknown.
  RequestEntry* find(uint64_t key, const void* variable);
  RequestTable& table_of(const RequestEntry& entry);
  // By pool: see RequestTable.
  std::vector<bool> pools_in_use();

 private:
  RequestLane& own_;
  RequestLanes& lanes_;
};

}  // namespace refrain::tracer
