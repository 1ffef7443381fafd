// Jobs that wait for a worker: an array of queues, each with a lock of its own (the online-coupling
// paper, section III-B). A thread pushes to a queue of its own and takes from it first; when that
// is empty, it sweeps the others from a random place on and takes several jobs at once. So threads
// seldom meet at a lock, and what a job makes is seldom taken by another core.
//
// Threads: all functions at any time.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "blackboard/short_lock.h"
#include "blackboard/source.h"
#include "refrain/blackboard.h"

namespace refrain::blackboard {

// References to the entries of a job. Most jobs have one or two, which need no memory of their own.
class JobEntries {
 public:
  void add(EntryRef entry) {
    if (count_ < kFew)
      few_[count_] = std::move(entry);
    else
      more_.push_back(std::move(entry));
    ++count_;
  }
  size_t size() const { return count_; }
  refrain_entry* at(size_t i) const { return i < kFew ? few_[i].get() : more_[i - kFew].get(); }

 private:
  static constexpr size_t kFew = 2;
  size_t count_ = 0;
  std::array<EntryRef, kFew> few_;
  std::vector<EntryRef> more_;
};

// An operation and the entries that it works on.
struct Job {
  SourceRef source;
  JobEntries entries;
};

class JobQueues {
 public:
  // Without workers there is one queue, which keeps the order; else each of them has one, and three
  // times as many are of other threads, which submit.
  explicit JobQueues(size_t workers) : workers_(workers), queues_(workers + others(workers)) {}

  // The calling thread is the worker of this number, from 0 on, until it ends.
  void begin_worker(size_t worker);
  // A number for the thread: workers have the least, and no two threads of a board the same.
  size_t place_of_thread() const;

  // Takes all of them.
  void push(std::vector<Job>& jobs);
  // False when there is none at this moment.
  bool try_pop(Job* job);
  // Waits for one: looks for a while, less and less often, then sleeps. False when `is_over` says
  // so, which is asked again after wake_all().
  template <class IsOver>
  bool pop(Job* job, const IsOver& is_over);
  void wake_all();

 private:
  struct alignas(64) Queue {
    ShortLock lock;
    std::atomic<size_t> count{0};  // of jobs; changed by who has the lock
    std::deque<Job> jobs;
  };
  Queue& own_queue();
  bool take_own(Job* job);
  bool steal(Job* job);
  bool is_any_queued() const;
  void wake(size_t jobs);

  static size_t others(size_t workers) { return workers == 0 ? 1 : 3 * workers; }

  const size_t workers_;
  std::vector<Queue> queues_;
  std::atomic<int64_t> sleepers_{0};
  std::mutex sleep_lock_;
  std::condition_variable wake_;
};

template <class IsOver>
bool JobQueues::pop(Job* job, const IsOver& is_over) {
  constexpr int kLooks = 10;
  for (;;) {
    for (int look = 0; look < kLooks; ++look) {
      if (try_pop(job)) return true;
      if (is_over()) return false;
      for (int i = 0; i < look; ++i) std::this_thread::yield();
    }
    std::unique_lock lock(sleep_lock_);
    sleepers_.fetch_add(1);
    wake_.wait(lock, [&] { return is_any_queued() || is_over(); });
    sleepers_.fetch_sub(1);
  }
}

}  // namespace refrain::blackboard
