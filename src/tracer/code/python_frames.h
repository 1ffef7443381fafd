// The frames of a Python interpreter that the calling thread is in (docs/decisions/0050).
//
// Laws: reads only what this thread alone changes and what nobody changes: its own chain of frames,
// and the code objects that those keep alive. Takes no reference, makes no object, waits for
// nothing, so that it does not matter whether the thread holds the interpreter's lock (mpi4py gives
// it back around most calls). An interpreter that ends frees the frames of threads other than its
// own: those are read by way of the kernel where they do not hold the lock, and what was read
// counts only if the interpreter was not ending afterwards. Where things lie in a frame is known
// for Python 3.9 to 3.14, and believed only after a comparison with what the interpreter itself
// says, at a call that holds the lock. Everything else has no frames, and is counted.
// Budget: nothing without an interpreter; 137 instructions a call of four frames that were seen
// before, in the main thread; two system calls a frame in others that do not hold the lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tracer/code/python_layout.h"

namespace refrain::tracer::python {

inline constexpr size_t kMostFrames = 64;

// An address in the code of the interpreter that is loaded; 0: there is none, or its frames are not
// wanted.
uintptr_t find_interpreter();
// That address lies in this file, as seen after so many `unloads` (unloads.h). What was known of
// another interpreter ends. After a library was unloaded nothing is read until this is called.
void is_in(uintptr_t code, const std::string& file, uint32_t unloads);

enum class Answer : uint8_t {
  kRead,
  kNotNow,   // not compared yet, and the lock is not held
  kCannot,   // several interpreters, or it is ending
  kNever,    // of a version or a kind that is not known
  kNoFrame,  // the thread is not in Python
};

// The innermost `most` frames, `count` of them; `is_all`: there are no more. May call the
// interpreter once, to compare, where the thread holds the lock.
Answer read(Frame* out, size_t most, size_t& count, bool& is_all);

struct SeenFrames {
  uint32_t count = 0;
  bool is_all = false;  // there are no others further out
  Frame frame[kMostFrames];
  KnownChain chain;
};
// read() of at most `most`, for still_holds().
Answer read(SeenFrames& out, size_t most);
// Whether that would give the same.
bool still_holds(const SeenFrames& seen);

struct Place {
  std::string file, function;
  int line = 0;
};
// Of a frame that was just read by this thread; false: it cannot be told any more.
bool find_place(const Frame& frame, Place& place);

}  // namespace refrain::tracer::python
