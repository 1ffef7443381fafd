// Call paths: the call sites from the MPI call outwards, as one definition.
//
// Laws: exact. A path is unwound once and then recognised by the words on the stack that the
// unwinding read: the return addresses, and the frame pointers of functions whose frame they end.
// If none has changed, neither has the path. (Without the frame pointers one in fifty would be
// wrong.) Known paths are dropped when a library is unloaded. Frames of Python replace those of the
// interpreter: python_paths.h. Budget: 6 instructions a frame and 10 for a path that was seen
// before from the same stack pointer; 15 ns a frame for another one whose return addresses are
// known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tracer/code/unloads.h"
#include "tracer/paths/frame_walk.h"
#include "tracer/paths/python_paths.h"
#include "tracer/paths/return_addresses.h"
#include "tracer/state/seen_path.h"
#include "tracer/tables/intern_table.h"

namespace refrain::tracer {

class Process;
struct StackBounds;

// One per location.
class CallPaths {
 public:
  // In the place of a frame: the address is 1 + the definition of the path, which a replay has told
  // (wrap/told_paths.cc).
  static constexpr uintptr_t kToldFrame = 0;

  const SeenPath& find(Process& process, const StackBounds& stack, const CallPlace& call) {
    if (unloads_ != unloads()) [[unlikely]]
      forget(process);
    const SeenPath* const known = latest_[place_slot(call)];
    if (known != nullptr) {
      if (known->still_holds(call.address, call.frame)) return *known;
      if (const SeenPath* const path = known->holding_through_python(call.address, call.frame);
          path != nullptr)
        return *path;
    }
    return unwind_path(process, stack, call);
  }

 private:
  static constexpr uint32_t kSlots = 1024, kShift = 54;
  static constexpr size_t kOlder = 7;
  static uint32_t slot(uint64_t word) {
    return static_cast<uint32_t>(word * 0x9e3779b97f4a7c15u >> kShift);
  }
  static uint32_t place_slot(const CallPlace& call) {
    return slot(call.address ^ (call.frame >> 4));
  }
  static uint32_t path_slot(uint32_t definition, uintptr_t frame) {
    return slot(definition ^ (frame << 16));
  }
  const SeenPath& unwind_path(Process& process, const StackBounds& stack, const CallPlace& call);
  const SeenPath& told_path(Process& process, const CallPlace& call);
  // How many sites the path has, and on how many frames it depends.
  struct Length {
    size_t sites = 0, frames = 0;
  };
  Length sites_of(Process& process, const CallPlace& call, const Walk& walk, size_t depth,
                  uint32_t* sites);
  uint32_t define(Process& process, const uint32_t* sites, size_t n);
  // Room for a walk, kept from one to the next: the stacks of fibers and threads may be small.
  class LentWalk;
  SeenPath* find_seen(const CallPlace& call);
  SeenPath& room_for(uint32_t definition, uintptr_t frame, size_t depth);
  void check_others(Process& process, SeenPath& seen);
  void forget(Process& process);

  ReturnAddresses returns_;
  InternTable paths_;                  // the sites of paths
  std::vector<uint32_t> definitions_;  // of each of them
  // Paths that follow each other from one frame have each a room of their own, so that what memos
  // know of one stays.
  SeenPath* seen_[kSlots] = {};    // by path and frame
  SeenPath* latest_[kSlots] = {};  // by place: the one that was there last
  // By place: those before it, the last one first. Libraries call each other's functions from many
  // places, and come to one frame by several paths in turn.
  SeenPath* older_[kSlots][kOlder] = {};
  PythonPaths python_;
  uint32_t unloads_ = 0;
  Walk* kept_walk_ = nullptr;
  struct {
    Walk walk;
    SeenPath path;
    SeenPath::Word word[SeenPath::words_of(SeenPath::kMaxDepth)];
  } overflow_;  // when there is no memory
};

}  // namespace refrain::tracer
