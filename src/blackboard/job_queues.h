// Jobs that wait for a worker: an array of queues, each with a lock of its own (the online-coupling
// paper, section III-B). A thread pushes to a queue of its own and takes from it first; when that
// is empty, it sweeps the others from a random place on and takes several jobs at once. So threads
// seldom meet at a lock, and what a job makes is seldom taken by another core.
//
// Threads: all functions at any time; stop() once.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

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
  // One queue keeps the order.
  explicit JobQueues(size_t queues) : queues_(queues) {}

  // Takes all of them.
  void push(std::vector<Job>& jobs);
  // False when there is none at this moment.
  bool try_pop(Job* job);
  // Waits for one: looks for a while, less and less often, then sleeps. False after stop().
  bool pop(Job* job);
  void stop();

 private:
  struct alignas(64) Queue {
    std::mutex lock;
    std::atomic<size_t> count{0};  // of jobs; changed by who has the lock
    std::deque<Job> jobs;
  };
  Queue& own_queue();
  bool take_own(Job* job);
  bool steal(Job* job);
  bool is_any_queued() const;
  void wake(size_t jobs);

  std::vector<Queue> queues_;
  std::atomic<int64_t> sleepers_{0};
  std::atomic<bool> stopped_{false};
  std::mutex sleep_lock_;
  std::condition_variable wake_;
};

}  // namespace refrain::blackboard
