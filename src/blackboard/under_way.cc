#include "blackboard/under_way.h"

namespace refrain::blackboard {

void UnderWay::tell() {
  {
    const std::lock_guard lock(lock_);
    nothing_.notify_all();
  }
  account_.room.fetch_add(1);
  account_.room.notify_all();
}

void UnderWay::wait() {
  std::unique_lock lock(lock_);
  nothing_.wait(lock, [&] { return is_nothing(); });
}

}  // namespace refrain::blackboard
