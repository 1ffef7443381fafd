#include "blackboard/short_lock.h"

namespace refrain::blackboard {

void ShortLock::lock_slowly() {
  constexpr int kTries = 200;
  for (int i = 0; i < kTries; ++i) {
    if (try_lock()) return;
    for (volatile int pause = 0; pause < 8;) pause = pause + 1;
  }
  // Whoever sleeps here may not be the last one: so it is taken as waited for.
  while (state_.exchange(kWaitedFor, std::memory_order_acquire) != kFree) state_.wait(kWaitedFor);
}

}  // namespace refrain::blackboard
