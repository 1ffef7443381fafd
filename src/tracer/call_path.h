// Call paths: the call sites from the MPI call outwards, as one definition.
//
// Laws: exact. A path is unwound once and then recognised by the words on the stack that the
// unwinding read: the return addresses, and the frame pointers of functions that have one. If none
// has changed, neither has the path. (Without the frame pointers one in fifty would be wrong.)
// Budget: 6 instructions a frame and 10 for a path that was seen before from the same stack
// pointer; 7 us for a new one.
#pragma once

#include <cstdint>
#include <vector>

namespace refrain::tracer {

class Process;

// A path and the stack that led to it.
struct SeenPath {
  static constexpr uint32_t kMaxDepth = 32;
  struct Word {
    const uintptr_t* place;
    uintptr_t value;
  };

  bool still_holds(uintptr_t from, uintptr_t at) const {
    if (address != from || frame != at) return false;
    for (uint32_t i = 0; i < words; ++i)
      if (*word[i].place != word[i].value) return false;
    return true;
  }

  uintptr_t address = 0, frame = 0;
  uint32_t definition = UINT32_MAX;  // kPath, or kSite for a path of one
  uint32_t words = 0;
  Word word[2 * kMaxDepth];
};

// One per location.
class CallPaths {
 public:
  // The path of the call that returns to `address`, whose frame (where the caller's frame pointer
  // is saved, right below the return address) is at `frame`.
  const SeenPath& find(Process& process, uintptr_t address, uintptr_t frame) {
    SeenPath* known = seen_[slot(address, frame)];
    if (known != nullptr && known->still_holds(address, frame)) return *known;
    return unwind_path(process, address, frame);
  }

 private:
  static constexpr uint32_t kSlots = 1024;
  static uint32_t slot(uintptr_t address, uintptr_t frame) {
    return static_cast<uint32_t>((address ^ (frame >> 4)) * 0x9e3779b97f4a7c15u >> 54);
  }
  const SeenPath& unwind_path(Process& process, uintptr_t address, uintptr_t frame);

  SeenPath* seen_[kSlots] = {};
  SeenPath overflow_;  // when there is no memory
};

}  // namespace refrain::tracer
