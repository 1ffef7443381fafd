// How much of a board is under way: submissions, jobs that wait or run, and what runners have in
// stock (runner.h). Nothing is left to do where it is 0.
//
// Threads: all functions at any time.
#pragma once

#include <atomic>
#include <cstdint>

#include "blackboard/entry.h"
#include "blackboard/job_queues.h"

namespace refrain::blackboard {

class UnderWay {
 public:
  // Who waits for room in the account or for jobs learns when there will be none.
  UnderWay(Account& account, JobQueues& jobs) : account_(account), jobs_(jobs) {}

  void begin(int64_t more) {
    if (more > 0) count_.fetch_add(more);
  }
  void end(int64_t less) {
    if (less > 0 && count_.fetch_sub(less) == less) tell();
  }
  bool is_nothing() const { return count_.load() == 0; }

 private:
  void tell();

  Account& account_;
  JobQueues& jobs_;
  // What changes with every entry shares a line of the cache with nothing else.
  alignas(64) std::atomic<int64_t> count_{0};
};

}  // namespace refrain::blackboard
