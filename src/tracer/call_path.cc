#include "tracer/call_path.h"

#include <algorithm>
#include <new>

#include "tracer/process.h"
#include "tracer/unwind.h"

namespace refrain::tracer {

namespace {

// Frames looked at for the begin of the stack.
constexpr size_t kLookAhead = 64;

// Whether the code is what starts a program: the C library, and the simulation where ranks are its
// threads.
bool is_start_code(Process& p, uintptr_t address) {
#ifdef REFRAIN_SMPI
  if (p.is_mpi_code(address)) return true;
#endif
  return p.is_system_code(address);
}

// How many of the frames are the program's: what starts its main function or thread stands around
// it, some frames of the C library and at most one of the program's start-up code.
size_t without_start(Process& p, const StackFrame* frames, size_t n) {
  size_t end = n;
  if (end > 2 && is_start_code(p, frames[end - 2].return_address)) --end;
  while (end > 1 && is_start_code(p, frames[end - 1].return_address)) --end;
  return end == n ? n : std::max<size_t>(end, 1);
}

// Whether the caller's frame was found by its frame pointer, which points below its return address.
// Where that register is one among others its value says nothing about the path, and may be another
// one at every call.
bool has_frame_pointer(const StackFrame& frame, const StackFrame& caller) {
  return frame.fp_slot != 0 &&
         *reinterpret_cast<const uintptr_t*>(frame.fp_slot) + sizeof(void*) == caller.return_slot;
}

}  // namespace

const SeenPath& CallPaths::unwind_path(Process& p, uintptr_t address, uintptr_t frame) {
  SeenPath*& place = seen_[slot(address, frame)];
  if (place == nullptr) place = new (std::nothrow) SeenPath;
  SeenPath& seen = place != nullptr ? *place : overflow_;
  seen.address = address;
  seen.frame = frame;
  seen.words = 0;
  const size_t depth = std::min<size_t>(p.options.call_path_depth, SeenPath::kMaxDepth);
  StackFrame frames[kLookAhead];
  // The first frame is the call's own: its stack pointer is at least two words above `frame`.
  const size_t all = depth > 1 ? unwind(frame + sizeof(void*), frames, kLookAhead) : 0;
  size_t n = 0;
  if (all > 0 && frames[0].return_address == address)
    n = std::min(all < kLookAhead ? without_start(p, frames, all) : all, depth);
  uint32_t sites[SeenPath::kMaxDepth];
  for (size_t i = 0; i < n; ++i) {
    sites[i] = p.define_site(frames[i].return_address);
    const auto add = [&](uintptr_t at) {
      const auto* word = reinterpret_cast<const uintptr_t*>(at);
      seen.word[seen.words++] = {word, *word};
    };
    if (frames[i].return_slot != 0) add(frames[i].return_slot);
    if (i + 1 < all && has_frame_pointer(frames[i], frames[i + 1])) add(frames[i].fp_slot);
  }
  if (n == 0 && depth > 0) sites[n++] = p.define_site(address);
  seen.definition = n == 0 ? UINT32_MAX : n == 1 ? sites[0] : p.define_path(sites, n);
  return seen;
}

}  // namespace refrain::tracer
