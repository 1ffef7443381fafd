#include "blackboard/under_way.h"

namespace refrain::blackboard {

void UnderWay::tell() {
  jobs_.wake_all();
  account_.room.fetch_add(1);
  account_.room.notify_all();
}

}  // namespace refrain::blackboard
