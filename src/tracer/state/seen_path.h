// A call path, and the words of the stack by which it is recognised.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tracer/code/python_frames.h"

namespace refrain::tracer {

struct SeenPython;

// A path and the stack that led to it.
struct SeenPath {
  static constexpr uint32_t kMaxDepth = 32;
  // So many of the recorder's frames may be among those of a path, which does not name them.
  static constexpr size_t kMaxOwn = 4;
  // Of each frame: its return address, its frame pointer, what else its rule reads. One for tests.
  static constexpr size_t words_of(size_t depth) { return 3 * (depth + kMaxOwn) + 1; }
  struct Word {
    const uintptr_t* place;
    uintptr_t value;
  };

  // Paths through Python have no address of their own, so that the others pay nothing for them.
  bool still_holds(uintptr_t from, uintptr_t at) const {
    if (address != from || frame != at) [[unlikely]]
      return python != nullptr && holds_in_python(from, at);
    return words_hold(words);
  }
  // Whether the path through Python that had this one's stack last still holds; null: it does not.
  const SeenPath* holding_through_python(uintptr_t from, uintptr_t at) const;
  // As far as the first `count` words can tell.
  bool still_holds(uintptr_t from, uintptr_t at, uint32_t count) const {
    return address == from && frame == at && words_hold(count);
  }
  bool words_hold(uint32_t count) const {
    for (uint32_t i = 0; i < count; ++i)
      if (*word()[i].place != word()[i].value) return false;
    return true;
  }
  // Whether it is the stack of this call, which leads through Python.
  bool leads_through_python(uintptr_t from, uintptr_t at) const;
  void forget();
  // They stand behind it.
  const Word* word() const { return reinterpret_cast<const Word*>(this + 1); }
  Word* word() { return reinterpret_cast<Word*>(this + 1); }

  uintptr_t address = 0, frame = 0;
  uint32_t definition = UINT32_MAX;  // kPath, or kSite for a path of one
  uint32_t words = 0;
  SeenPython* python = nullptr;  // once it was a path through Python; never freed

 private:
  bool holds_in_python(uintptr_t from, uintptr_t at) const;
};

// What is known of a path through Python beside its stack.
struct SeenPython {
  uintptr_t address = 0;    // of the call; 0: it is no such path any more
  bool is_told = false;     // the path has the frames below in it; else: the interpreter's own
  bool is_counted = false;  // as one whose frames cannot be told
  // The sites in front of the interpreter's.
  uint32_t sites = 0;
  uint32_t site[SeenPath::kMaxDepth];
  uint32_t words = 0;  // of the stack, until it comes to the interpreter
  uint64_t key = 0;    // of those words
  // The path through Python that a call with this stack had last; any one, as it is asked itself.
  const SeenPath* latest = nullptr;
  python::SeenFrames frames;
};

inline bool SeenPath::leads_through_python(uintptr_t from, uintptr_t at) const {
  return python != nullptr && python->address == from && frame == at && words_hold(words);
}

inline const SeenPath* SeenPath::holding_through_python(uintptr_t from, uintptr_t at) const {
  if (python == nullptr || python->latest == nullptr) return nullptr;
  return python->latest->still_holds(from, at) ? python->latest : nullptr;
}

inline void SeenPath::forget() {
  SeenPython* const kept = python;
  *this = SeenPath();
  python = kept;
  if (kept != nullptr) kept->address = 0;
}

}  // namespace refrain::tracer
