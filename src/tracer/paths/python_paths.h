// Call paths with the frames of a Python program in place of those of the interpreter.
//
//   main solver.py:40 > step solver.py:31 > exchange solver.py:22
//
// C functions between MPI and the innermost Python frame remain in the path, except those of
// mpi4py, which are represented by the Python line that called them. C functions between two Python
// frames are left out.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tracer/code/python_frames.h"
#include "tracer/paths/frame_walk.h"
#include "tracer/state/seen_path.h"

namespace refrain::tracer {

class Process;

// How many of the frames stay in front of those of Python; SIZE_MAX: Python is not among them.
// `frames`: as many lead from the call to the interpreter, whose own calls do not matter.
size_t frames_before_python(Process& process, const CallPlace& call, const Walk& walk,
                            size_t& frames);
// Makes `seen`, whose stack has been filled in, a path that leads through Python; its first `words`
// lead to the interpreter. False: no memory.
bool set_through_python(SeenPath& seen, uint32_t words, const uint32_t* sites, size_t n);

// Of one location.
class PythonPaths {
 public:
  // The path of a call from `native`, whose stack leads through Python; `native` itself where the
  // frames cannot be told, which is counted.
  const SeenPath& find(Process& process, SeenPath& native);
  // Memos point at them: they stay, and hold no more.
  void forget();

 private:
  static constexpr uint32_t kSlots = 1024, kShift = 54;
  struct Known {
    SeenPath path;
    SeenPath::Word word[SeenPath::words_of(SeenPath::kMaxDepth)];
    SeenPython python;
  };
  static const SeenPath& without_frames(Process& process, SeenPath& native, python::Answer answer);
  static size_t slot_by_frames(const Process& process, const SeenPath& native);
  const SeenPath& read(Process& process, SeenPath& native, Known*& place);

  // By the stack up to the interpreter, and all frames of a path.
  Known* known_[kSlots] = {};
  // By that stack and the innermost frame: the one that was there last.
  Known* latest_[kSlots] = {};
};

}  // namespace refrain::tracer
