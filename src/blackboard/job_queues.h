// Jobs that wait for a worker: an array of queues, each with a lock of its own (the online-coupling
// paper, section III-B: jobs are pushed at random, and workers sweep from a random place on, so
// that they seldom meet at a lock).
//
// Threads: all functions at any time; stop() once.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "refrain/blackboard.h"

namespace refrain::blackboard {

class Source;

// An operation and the entries that it works on. The job has a reference to each.
struct Job {
  std::shared_ptr<Source> source;
  std::vector<EntryRef> entries;
};

class JobQueues {
 public:
  // One queue keeps the order.
  explicit JobQueues(size_t queues) : queues_(queues) {}

  void push(Job job);
  // False when there is none at this moment.
  bool try_pop(Job* job);
  // Waits for one: looks for a while, less and less often, then sleeps. False after stop().
  bool pop(Job* job);
  void stop();

 private:
  struct alignas(64) Queue {
    std::mutex lock;
    std::deque<Job> jobs;
  };
  bool sweep(Job* job);

  std::vector<Queue> queues_;
  std::atomic<int64_t> queued_{0};
  std::atomic<int64_t> sleepers_{0};
  std::atomic<bool> stopped_{false};
  std::mutex sleep_lock_;
  std::condition_variable wake_;
};

}  // namespace refrain::blackboard
