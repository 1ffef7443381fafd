// The memory layout of a Python interpreter, and functions that read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tracer/code/python_api.h"

namespace refrain::tracer::python {

// A place in a code object that is being executed. Equal values, equal place; but code that is
// compiled while the program runs (exec) may come to lie where other code was before.
struct Frame {
  uintptr_t code = 0, instruction = 0, lines = 0;
  bool operator==(const Frame&) const = default;
};

// In bytes from the begin of what holds them.
struct Layout {
  static constexpr size_t kNone = SIZE_MAX;
  size_t top = 0;                // of a thread state: the innermost frame, or what points to it
  size_t top_in_holder = kNone;  // there
  size_t code = 0, previous = 0, instruction = 0;  // of a frame
  uintptr_t code_tags = 0;  // bits of the pointer to the code that are none of the address
  size_t owner = kNone;     // of a frame; from kOfInterpreter on it is no frame of Python
  size_t frame_bytes = 0;   // how much of a frame is read
  bool is_index = false;    // the instruction is an int: a number of
  int unit_bytes = 1;       //   so many bytes
  // Of a code object; found by confirm().
  size_t first_instruction = 0, file = 0, name = 0, lines = 0;
};

inline constexpr uint8_t kOfInterpreter = 3;
inline constexpr size_t kCodeBytes = 256;  // of a code object: at least all that it has of its own
inline constexpr size_t kMostFrameBytes = 128;

// Of Py_GetVersion(), by the interpreter's headers; false: not known. What is found out stays 0.
bool find_layout(const char* version, Layout& layout);
// Compares all frames of the calling thread, which holds the lock, with what the interpreter says
// of them, and finds the rest of the layout meanwhile. May leave an error behind in the thread.
bool confirm(const Api& api, Object* thread, Layout& layout);

// Reads memory as it is: of a thread whose frames nobody else can free.
struct Plain {
  static const unsigned char* view(uintptr_t address, size_t, unsigned char*) {
    return reinterpret_cast<const unsigned char*>(address);
  }
};
// Copies it by way of the kernel, so that an address that is none is an answer and no signal.
struct Careful {
  static const unsigned char* view(uintptr_t address, size_t bytes, unsigned char* room);
  // As much as there is, of at most `bytes`; how much.
  static size_t copy_most(uintptr_t address, size_t bytes, unsigned char* room);
};

template <class Memory>
bool get_word(uintptr_t address, uintptr_t& out) {
  unsigned char room[sizeof out];
  const unsigned char* const at = Memory::view(address, sizeof out, room);
  if (at != nullptr) std::memcpy(&out, at, sizeof out);
  return at != nullptr;
}

// The frames of a thread, from the innermost outwards.
template <class Memory>
class Chain {
 public:
  Chain(const Layout& layout, Object* thread) : l_(layout) {
    good_ = get_word<Memory>(reinterpret_cast<uintptr_t>(thread) + l_.top, at_);
    if (good_ && l_.top_in_holder != Layout::kNone && at_ != 0)
      good_ = get_word<Memory>(at_ + l_.top_in_holder, at_);
    see();
  }
  bool is_over() const { return at_ == 0 || !good_; }
  // False: it was over because of an address that is none.
  bool is_good() const { return good_; }
  Frame frame() {
    Frame out;
    out.code = word(l_.code) & ~l_.code_tags;
    if (l_.is_index) {
      int index = 0;
      std::memcpy(&index, seen_ + l_.instruction, sizeof index);
      out.instruction = static_cast<uintptr_t>(static_cast<intptr_t>(index) * l_.unit_bytes);
    } else {
      out.instruction = word(l_.instruction);
    }
    if (l_.lines != 0) good_ = get_word<Memory>(out.code + l_.lines, out.lines);
    return out;
  }
  void next() {
    if (is_over()) return;
    at_ = word(l_.previous);
    see();
  }

 private:
  uintptr_t word(size_t offset) const {
    uintptr_t out = 0;
    std::memcpy(&out, seen_ + offset, sizeof out);
    return out;
  }
  // Goes past what stands for a function in C that called Python.
  void see() {
    while (at_ != 0 && good_) {
      seen_ = Memory::view(at_, l_.frame_bytes, room_);
      good_ = seen_ != nullptr;
      if (!good_ || l_.owner == Layout::kNone || seen_[l_.owner] < kOfInterpreter) return;
      at_ = word(l_.previous);
    }
  }

  const Layout& l_;
  uintptr_t at_ = 0;
  bool good_ = false;
  const unsigned char* seen_ = nullptr;
  unsigned char room_[kMostFrameBytes];
};

// A chain of frames as it lay in memory, with what stands for functions in C: so that to see the
// same one again takes few instructions.
struct KnownChain {
  struct Node {
    uintptr_t at, code, instruction, lines;
    const uintptr_t* place_of_lines;
  };
  static constexpr size_t kMost = 24;  // longer ones are not kept
  size_t count = 0;
  Object* thread = nullptr;  // whose it is; null: nothing is kept
  uintptr_t next = 0;        // what comes after these
  Node node[kMost];
};

// The calling thread's first so many frames; `is_all`: it has no others. Of Plain memory.
void keep_chain(const Layout& l, Object* thread, size_t frames, bool is_all, KnownChain& out);

inline uintptr_t plain_word(uintptr_t address) {
  return *reinterpret_cast<const uintptr_t*>(address);
}

inline uintptr_t top_frame(const Layout& l, Object* thread) {
  const uintptr_t top = plain_word(reinterpret_cast<uintptr_t>(thread) + l.top);
  return l.top_in_holder == Layout::kNone || top == 0 ? top : plain_word(top + l.top_in_holder);
}

// Nothing is read that the words before it have not shown to be there.
inline bool is_as_kept(const Layout& l, Object* thread, const KnownChain& chain) {
  if (chain.thread != thread) return false;
  uintptr_t at = top_frame(l, thread);
  const KnownChain::Node* const end = chain.node + chain.count;
  for (const KnownChain::Node* n = chain.node; n != end; ++n) {
    if (at != n->at || plain_word(at + l.code) != n->code ||
        plain_word(at + l.instruction) != n->instruction || *n->place_of_lines != n->lines)
      return false;
    at = plain_word(at + l.previous);
  }
  return at == chain.next;
}

// Of a frame's instruction in its code; what PyCode_Addr2Line wants.
inline int offset_of(const Layout& l, const Frame& f) {
  if (l.is_index) return static_cast<int>(f.instruction);
  return static_cast<int>(f.instruction - f.code - l.first_instruction);
}

}  // namespace refrain::tracer::python
