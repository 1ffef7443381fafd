// A lock for some hundred instructions: shorter than putting a thread to sleep takes, so whoever
// finds it taken looks again for a while before it sleeps. Inline, as taking it is a good part of
// what is done under it.
//
// Threads: all functions; unlock() by who has it. A lockable as in the standard library.
#pragma once

#include <atomic>
#include <cstdint>

namespace refrain::blackboard {

class ShortLock {
 public:
  bool try_lock() {
    uint32_t free = kFree;
    return state_.load(std::memory_order_relaxed) == kFree &&
           state_.compare_exchange_strong(free, kTaken, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }
  void lock() {
    uint32_t free = kFree;
    if (!state_.compare_exchange_strong(free, kTaken, std::memory_order_acquire,
                                        std::memory_order_relaxed))
      lock_slowly();
  }
  void unlock() {
    if (state_.exchange(kFree, std::memory_order_release) == kWaitedFor) state_.notify_one();
  }

 private:
  enum : uint32_t { kFree, kTaken, kWaitedFor };
  void lock_slowly();

  std::atomic<uint32_t> state_{kFree};
};

}  // namespace refrain::blackboard
