// How much of a board is under way: submissions, jobs that wait or run, and what runners have in
// stock (runner.h). Nothing is left to do where it is 0.
//
// Threads: all functions at any time.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "blackboard/entry.h"

namespace refrain::blackboard {

class UnderWay {
 public:
  // `account`: who waits for room there learns that nobody will give any.
  explicit UnderWay(Account& account) : account_(account) {}

  void begin(int64_t more) {
    if (more > 0) count_.fetch_add(more);
  }
  void end(int64_t less) {
    if (less > 0 && count_.fetch_sub(less) == less) tell();
  }
  bool is_nothing() const { return count_.load() == 0; }
  void wait();

 private:
  void tell();

  Account& account_;
  // What changes with every entry shares a line of the cache with nothing else.
  alignas(64) std::atomic<int64_t> count_{0};
  alignas(64) std::mutex lock_;
  std::condition_variable nothing_;
};

}  // namespace refrain::blackboard
