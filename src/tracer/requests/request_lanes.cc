// The header has the protocol. Where a comment here says "owner", it means the thread that a lane
// belongs to; everybody else who needs the lane comes through AllLanes.

#include "tracer/requests/request_lanes.h"

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace refrain::tracer {

namespace {

// The thread sanitizer does not know membarrier: with it both sides use sequentially consistent
// stores and loads instead, which it understands, and which cost the owner more.
#if defined(__SANITIZE_THREAD__)

bool can_make_all_pass_a_barrier() { return true; }
void make_all_pass_a_barrier() {}  // see kToSayBusy
constexpr auto kToSayForeign = std::memory_order_seq_cst;
constexpr auto kToAskBusy = std::memory_order_seq_cst;

#else

// By its number: the C library has no function for it. The program's errno stays as it was.
long membarrier(int command) {
  const int before = errno;
  const long rc = syscall(SYS_membarrier, command, 0, 0);
  errno = before;
  return rc;
}
bool can_make_all_pass_a_barrier() {
  return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
}
void make_all_pass_a_barrier() { membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED); }
constexpr auto kToSayForeign = std::memory_order_relaxed;
constexpr auto kToAskBusy = std::memory_order_acquire;

#endif

}  // namespace

RequestLanes::RequestLanes() {
  lanes_.push_back(std::make_unique<RequestLane>(*this, 0));
  lanes_[0]->is_taken = true;
}

void RequestLanes::begin_threads() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (has_threads_) return;
  has_threads_ = true;
  has_barrier_ = can_make_all_pass_a_barrier();
  shared_lane_ = std::make_unique<RequestLane>(*this, RequestLane::kShared);
  shared_lane_->foreign.store(1);  // nobody is alone in it
  lanes_[0]->foreign.store(has_barrier_ ? 0 : 1);
  for_each([](RequestLane& lane) { lane.has_neighbours = true; });
}

// A lane whose thread has ended is taken over with the requests that are in it: somebody may still
// complete them, and their positions in pools stay taken. More threads than there are lanes share
// the last one, under the lock.
RequestLane& RequestLanes::join() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!has_threads_) return *lanes_[0];
  for (const auto& lane : lanes_) {
    if (lane->is_taken) continue;
    lane->is_taken = true;
    return *lane;
  }
  if (lanes_.size() == RequestLane::kShared) return *shared_lane_;
  const auto number = static_cast<uint16_t>(lanes_.size());
  RequestLane& lane = *lanes_.emplace_back(std::make_unique<RequestLane>(*this, number));
  lane.foreign.store(has_barrier_ ? 0 : 1);
  lane.has_neighbours = lane.is_taken = true;
  return lane;
}

RequestLane& RequestLanes::leave(RequestLane& lane) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!has_threads_) return lane;
  lane.is_taken = false;
  return *shared_lane_;
}

// Readers take no lock: the key is there before the count says so. When there is no room for one
// more, a copy of such a handle is looked for like any other.
void RequestLanes::note_shared_handle(uint64_t key) {
  if (is_shared_handle(key)) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  const uint32_t n = shared_count_.load(std::memory_order_relaxed);
  if (n == kMaxShared || is_shared_handle(key)) return;
  shared_[n].store(key, std::memory_order_relaxed);
  shared_count_.store(n + 1, std::memory_order_release);
}

// Somebody wants the lane: the owner says that it is out again, or that one would wait for it and
// it for the lock.
void OwnLane::enter_locked() {
  lane_.busy.store(0, std::memory_order_release);
  lane_.all.mutex_.lock();
  is_locked_ = true;
}

void OwnLane::leave_locked() { lane_.all.mutex_.unlock(); }

namespace {

// A claimed one before it is about to end, and its handle was reused.
bool shares_handle(const RequestTable& table, const RequestEntry& e) {
  return e.previous != RequestTable::kNone && !table.at(e.previous).is(RequestEntry::kClaimed);
}

}  // namespace

const RequestEntry& add_request(RequestLane& lane, const RequestEntry& entry) {
  const RequestEntry* added = nullptr;
  bool shares = false;
  {
    OwnLane own(lane);
    added = &own->at(own->add(entry));
    shares = shares_handle(lane.table, *added);
  }
  if (shares && lane.has_neighbours) lane.all.note_shared_handle(entry.key);
  return *added;
}

bool add_request_again(RequestLane& lane, RequestEntry& entry, uint64_t key, const void* variable) {
  bool shares = false;
  {
    OwnLane own(lane);
    if (!own->add_again(entry, key, variable)) return false;
    shares = shares_handle(lane.table, entry);
  }
  if (shares && lane.has_neighbours) [[unlikely]]
    lane.all.note_shared_handle(key);
  return true;
}

// After the barrier each owner has either seen `foreign`, and takes the lock, or shows `busy`, and
// is waited for. It is busy for a moment only, so yielding is for the case that it was interrupted
// there.
AllLanes::AllLanes(RequestLane& own) : own_(own), lanes_(own.all) {
  lanes_.mutex_.lock();
  if (!lanes_.has_barrier_) return;
  lanes_.for_each([](RequestLane& lane) { lane.foreign.store(1, kToSayForeign); });
  make_all_pass_a_barrier();
  lanes_.for_each([](RequestLane& lane) {
    constexpr int kPatience = 100;
    for (int i = 0; lane.busy.load(kToAskBusy) != 0; ++i)
      if (i > kPatience) sched_yield();
  });
}

AllLanes::~AllLanes() {
  if (lanes_.has_barrier_)
    for (const auto& lane : lanes_.lanes_) lane->foreign.store(0, std::memory_order_release);
  lanes_.mutex_.unlock();
}

// The copy of a handle that several threads' requests share does not say whose is meant. A thread
// that completes for another one often does it all the time.
RequestEntry* AllLanes::find(uint64_t key, const void* variable) {
  RequestEntry* found = nullptr;
  RequestLane* where = nullptr;
  bool is_exact = false;
  const auto look_into = [&](RequestLane& lane) {
    const uint32_t index = is_exact ? RequestTable::kNone : lane.table.find(key, variable);
    if (index == RequestTable::kNone) return;
    RequestEntry& e = lane.table.at(index);
    is_exact = e.variable == variable;
    if (found != nullptr && !is_exact) return;
    found = &e;
    where = &lane;
  };
  look_into(own_);
  if (own_.partner != nullptr) look_into(*own_.partner);
  lanes_.for_each(look_into);
  if (where != nullptr && where != &own_) own_.partner = where;
  return found;
}

std::vector<bool> AllLanes::pools_in_use() {
  std::vector<bool> all;
  lanes_.for_each([&](const RequestLane& lane) {
    const std::vector<bool> used = lane.table.pools_in_use();
    all.resize(std::max(all.size(), used.size()));
    for (size_t i = 0; i < used.size(); ++i) all[i] = all[i] || used[i];
  });
  return all;
}

RequestTable& AllLanes::table_of(const RequestEntry& entry) {
  return entry.lane == RequestLane::kShared ? lanes_.shared_lane_->table
                                            : lanes_.lanes_[entry.lane]->table;
}

}  // namespace refrain::tracer
