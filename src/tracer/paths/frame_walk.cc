#include "tracer/paths/frame_walk.h"

#include "tracer/code/addresses.h"
#include "tracer/code/unwind.h"

namespace refrain::tracer {

namespace {

constexpr uintptr_t kWord = sizeof(uintptr_t);

uintptr_t word_at(uintptr_t slot) { return *reinterpret_cast<const uintptr_t*>(slot); }

#if defined(__x86_64__)
uintptr_t relative(uintptr_t base, int32_t offset) {
  return base + static_cast<uintptr_t>(int64_t{offset});
}

// Where a walk is: in a function that goes on at the address right below `sp`.
struct Position {
  uintptr_t sp;
  uintptr_t pointer_slot;        // of the frame pointer, while that function runs
  const uintptr_t lowest, last;  // slots that may be read

  bool is_slot(uintptr_t at) const { return at >= lowest && at <= last && at % kWord == 0; }
  // To the function that called it. False: where the rule leads to cannot be.
  [[gnu::always_inline]] bool leave(const FrameRule& rule, WalkedFrame& frame) {
    uintptr_t end = relative(sp, rule.end), pointer = 0;
    if (rule.how_end != FrameRule::End::kByStackPointer ||
        rule.how_pointer == FrameRule::Pointer::kByFramePointer)
      pointer = word_at(pointer_slot);
    if (rule.how_end != FrameRule::End::kByStackPointer) {
      frame.reads_pointer = true;
      end = relative(pointer, rule.end);
      if (rule.how_end == FrameRule::End::kStored) {
        frame.stored_slot = end;
        if (!is_slot(end)) return false;
        end = word_at(end);
      } else if (rule.how_end != FrameRule::End::kByFramePointer) {
        return false;
      }
    }
    // Above the slot that was there before, so not below the lowest.
    if (end <= sp || end - kWord > last || end % kWord != 0) return false;
    sp = end;
    if (rule.how_pointer == FrameRule::Pointer::kKept) return true;
    const bool is_by_end = rule.how_pointer == FrameRule::Pointer::kByEnd;
    pointer_slot = relative(is_by_end ? end : pointer, rule.pointer);
    return is_slot(pointer_slot);
  }
};
#endif

}  // namespace

bool walk_by_rules(Process& p, ReturnAddresses& returns, const StackBounds& stack,
                   const CallPlace& call, size_t depth, Walk& walk) {
#if defined(__x86_64__)
  walk.count = 0;
  walk.is_whole = false;
  const uintptr_t lowest = call.wrapper, innermost = call.frame + 2 * kWord;
  if (!stack.holds(lowest) || lowest % kWord != 0 || lowest + 2 * kWord > stack.end) return false;
  Position at{lowest + 2 * kWord, lowest, lowest, stack.end - kWord};
  size_t count = 0, in_path = 0;  // frames; those that are not the recorder's
  const auto end = [&](bool is_whole) {
    walk.count = count;
    walk.is_whole = is_whole;
    return count > 0;
  };
  for (bool is_decided = false;;) {
    const uintptr_t address = word_at(at.sp - kWord);
    if (address == 0) return false;
    const KnownReturn& known = returns.at(p, address);
    // One by one: copied as a whole, it would wait for its parts to be written elsewhere first.
    WalkedFrame& frame = walk.frames[count];
    frame.return_address = address;
    frame.sp = at.sp;
    frame.return_slot = at.sp - kWord;
    frame.pointer_slot = at.pointer_slot;
    frame.stored_slot = 0;
    frame.facts = known.facts;
    frame.reads_pointer = false;
    if (at.sp >= innermost) {
      ++count;
      if (!known.facts.is_own) ++in_path;
      if (count == Walk::kMaxFrames) return end(false);
      // What starts the program is left out, but never a frame with another function outside of it.
      if (in_path >= depth) {
        if (is_decided && in_path > depth) return end(false);
        is_decided = is_decided || !known.facts.is_start;
      }
    }
    if (known.rule.how_end == FrameRule::End::kOutermost) return end(true);
    if (!at.leave(known.rule, frame)) return false;
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
    walk.frames[i] = {f.return_address, f.sp,         f.return_slot, f.fp_slot, 0,
                      known.facts,      reads_pointer};
  }
  walk.count = n;
  walk.is_whole = n < Walk::kMaxFrames;
}

}  // namespace refrain::tracer
