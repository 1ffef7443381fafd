// The frames of the calling thread, by libunwind.
//
// libunwind is loaded on first use and for the recorder alone (RTLD_LOCAL): if it were linked, its
// _Unwind_* functions would replace those that the program's exceptions use. Without libunwind,
// call paths are one call site long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace refrain::tracer {

struct StackFrame {
  uintptr_t return_address = 0;
  uintptr_t sp = 0;           // stack pointer once it has returned
  uintptr_t return_slot = 0;  // where the return address is saved; 0: not in memory
  uintptr_t fp_slot = 0;      // where the caller's frame pointer is saved; 0: not in memory
};

// The frames that are being returned to, innermost first, from the first with a stack pointer above
// `above` on. Writes at most `max`; the result is how many. 7 us for 20 frames.
size_t unwind(uintptr_t above, StackFrame* frames, size_t max);

// The same into memory of its own, of which a fiber's stack may have too little.
struct UnwoundFrames {
  std::unique_ptr<StackFrame[]> frames;
  size_t count = 0;  // 0 where there is no memory
};
UnwoundFrames unwind_to_heap(uintptr_t above, size_t max);

// A library was unloaded: libunwind remembers how functions are unwound by their addresses.
void forget_unwinding();

}  // namespace refrain::tracer
