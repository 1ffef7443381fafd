#include "tracer/paths/frame_walk.h"

#include "tracer/code/addresses.h"
#include "tracer/code/unwind.h"

namespace refrain::tracer {

namespace {

constexpr uintptr_t kWord = sizeof(uintptr_t);

uintptr_t word_at(uintptr_t slot) { return *reinterpret_cast<const uintptr_t*>(slot); }

#if defined(__x86_64__)
// Where a walk is: in a function that goes on at the address in `slot`.
struct Position {
  uintptr_t sp, slot;
  uintptr_t pointer_slot;  // of the frame pointer, while that function runs

  // To the function that called it. False: where the rule leads to cannot be.
  bool leave(const FrameRule& rule, uintptr_t lowest, uintptr_t stack_end, WalkedFrame& frame);
};

bool Position::leave(const FrameRule& rule, uintptr_t lowest, uintptr_t stack_end,
                     WalkedFrame& frame) {
  const auto is_slot = [&](uintptr_t at) {
    return at >= lowest && at <= stack_end - kWord && at % kWord == 0;
  };
  const auto relative = [](uintptr_t base, int32_t offset) {
    return base + static_cast<uintptr_t>(int64_t{offset});
  };
  const uintptr_t pointer = word_at(pointer_slot);
  uintptr_t end = 0;
  frame.reads_pointer = rule.how_end != FrameRule::End::kByStackPointer;
  switch (rule.how_end) {
    case FrameRule::End::kByStackPointer: end = relative(sp, rule.end); break;
    case FrameRule::End::kByFramePointer: end = relative(pointer, rule.end); break;
    case FrameRule::End::kStored:
      frame.stored_slot = relative(pointer, rule.end);
      if (!is_slot(frame.stored_slot)) return false;
      end = word_at(frame.stored_slot);
      break;
    default: return false;
  }
  if (end <= sp || end > stack_end || !is_slot(end - kWord)) return false;
  if (rule.how_pointer == FrameRule::Pointer::kByEnd)
    pointer_slot = relative(end, rule.pointer);
  else if (rule.how_pointer == FrameRule::Pointer::kByFramePointer)
    pointer_slot = relative(pointer, rule.pointer);
  sp = end;
  slot = end - kWord;
  return is_slot(pointer_slot);
}
#endif

}  // namespace

bool walk_by_rules(Process& p, ReturnAddresses& returns, const StackBounds& stack,
                   const CallPlace& call, size_t depth, Walk& walk) {
#if defined(__x86_64__)
  walk.count = 0;
  walk.is_whole = false;
  const uintptr_t lowest = call.wrapper;
  if (!stack.holds(lowest) || lowest % kWord != 0 || lowest + 2 * kWord > stack.end) return false;
  Position at{lowest + 2 * kWord, lowest + kWord, lowest};
  size_t own = 0;
  for (bool is_decided = false;;) {
    const uintptr_t address = word_at(at.slot);
    if (address == 0) return false;
    const KnownReturn& known = returns.at(p, address);
    WalkedFrame& frame = walk.frames[walk.count];
    frame = {address,    at.sp,          at.slot, at.pointer_slot, 0,
             known.site, known.has_site, false,   known.is_start,  known.is_own};
    if (at.sp > call.frame + kWord) {
      ++walk.count;
      if (known.is_own) ++own;
      // What starts the program is left out, but never a frame with another function outside of it.
      if (walk.count == Walk::kMaxFrames || (is_decided && walk.count - own > depth)) return true;
      is_decided = is_decided || (walk.count - own >= depth && !known.is_start);
    }
    walk.is_whole = known.rule.how_end == FrameRule::End::kOutermost;
    if (walk.is_whole) return walk.count > 0;
    if (!at.leave(known.rule, lowest, stack.end, frame)) return false;
  }
#else
  (void)p, (void)returns, (void)stack, (void)call, (void)depth, (void)walk;
  return false;
#endif
}

void walk_by_libunwind(Process& p, ReturnAddresses& returns, const CallPlace& call, Walk& walk) {
  const auto [frames, n] = unwind_to_heap(call.frame + kWord, Walk::kMaxFrames);
  for (size_t i = 0; i < n; ++i) {
    const StackFrame& f = frames[i];
    const KnownReturn& known = returns.at(p, f.return_address);
    // Whether the next frame was found by the frame pointer, which then points below its return
    // address. Where that register is one among others its value says nothing about the path, and
    // may be another one at every call.
    const bool reads_pointer =
        i + 1 < n && f.fp_slot != 0 && word_at(f.fp_slot) + kWord == frames[i + 1].return_slot;
    walk.frames[i] = {f.return_address, f.sp,          f.return_slot,  f.fp_slot,   0, known.site,
                      known.has_site,   reads_pointer, known.is_start, known.is_own};
  }
  walk.count = n;
  walk.is_whole = n < Walk::kMaxFrames;
}

}  // namespace refrain::tracer
