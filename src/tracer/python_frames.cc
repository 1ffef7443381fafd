#include "tracer/python_frames.h"

#include <dlfcn.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#include "tracer/unloads.h"

namespace refrain::tracer::python {
namespace {

using Object = void;  // PyObject and all that begin with one

// Functions of the interpreter. Those of the first group neither change anything nor need the lock;
// the others are called while it is held.
struct Api {
  Object* (*thread_state)();                // PyGILState_GetThisThreadState
  Object* (*holder)();                      // _PyThreadState_UncheckedGet
  void* (*first_interpreter)();             // PyInterpreterState_Head: the youngest
  void* (*main_interpreter)();              // PyInterpreterState_Main
  int (*is_finalizing)();                   // _Py_IsFinalizing
  int (*line_of)(Object*, int);             // PyCode_Addr2Line
  ssize_t (*length)(Object*);               // PyUnicode_GetLength
  uint32_t (*character)(Object*, ssize_t);  // PyUnicode_ReadChar
  const char* (*version)();                 // Py_GetVersion

  Object* (*frame)(Object*);  // PyThreadState_GetFrame
  Object* (*back)(Object*);   // PyFrame_GetBack
  Object* (*code)(Object*);   // PyFrame_GetCode
  int (*line)(Object*);       // PyFrame_GetLineNumber
  Object* (*attribute)(Object*, const char*);
  long (*as_long)(Object*);
  Object* (*error)();
  void (*clear_error)();
  void (*release)(Object*);  // Py_DecRef
  int (*disable_gc)();       // may be missing
  int (*enable_gc)();
};

// Where things lie, in bytes from the begin of what holds them.
struct Layout {
  size_t top = 0;                // of a thread state: the innermost frame, or what points to it
  size_t top_in_holder = kNone;  // there
  size_t code = 0, previous = 0, instruction = 0;  // of a frame
  size_t owner = kNone;   // of a frame; the value kOfStack is no frame of Python
  bool is_index = false;  // the instruction is an int: a number of
  int unit_bytes = 1;     //   so many bytes
  // Of a code object; found by comparison.
  size_t first_instruction = 0, file = 0, name = 0, lines = 0;
  static constexpr size_t kNone = SIZE_MAX;
};

constexpr uint8_t kOfStack = 3;
constexpr size_t kCodeWords = 32;  // that are searched of a code object
constexpr const char* kThreadState = "PyGILState_GetThisThreadState";
constexpr int kMostTries = 64;         // comparisons that may fail for a reason that can pass
constexpr size_t kLongestText = 4096;  // characters

enum class State : uint8_t { kUnknown, kFound, kReady, kRefused };

struct Interpreter {
  std::atomic<State> state = State::kUnknown;
  std::atomic<uint32_t> unloads = 0;  // when it was seen to be loaded
  std::mutex changing;
  uintptr_t code = 0;                 // find_interpreter()
  const std::string* file = nullptr;  // which that is in
  int tries = 0;  // and what follows: changed by who holds the interpreter's lock
  Api api{};
  Layout layout{};
};
constinit Interpreter interpreter;

template <class F>
bool find(F& f, const char* name, const char* other = nullptr) {
  void* found = dlsym(RTLD_DEFAULT, name);
  if (found == nullptr && other != nullptr) found = dlsym(RTLD_DEFAULT, other);
  if (found == nullptr) dlerror();  // or the program would take that error for one of its own
  std::memcpy(&f, &found, sizeof found);
  return found != nullptr;
}

bool find_api(Api& a) {
  if (!find(a.thread_state, kThreadState)) return false;
  const bool all = find(a.holder, "PyThreadState_GetUnchecked", "_PyThreadState_UncheckedGet") &&
                   find(a.first_interpreter, "PyInterpreterState_Head") &&
                   find(a.main_interpreter, "PyInterpreterState_Main") &&
                   find(a.is_finalizing, "Py_IsFinalizing", "_Py_IsFinalizing") &&
                   find(a.line_of, "PyCode_Addr2Line") && find(a.length, "PyUnicode_GetLength") &&
                   find(a.character, "PyUnicode_ReadChar") && find(a.version, "Py_GetVersion") &&
                   find(a.frame, "PyThreadState_GetFrame") && find(a.back, "PyFrame_GetBack") &&
                   find(a.code, "PyFrame_GetCode") && find(a.line, "PyFrame_GetLineNumber") &&
                   find(a.attribute, "PyObject_GetAttrString") &&
                   find(a.as_long, "PyLong_AsLong") && find(a.error, "PyErr_Occurred") &&
                   find(a.clear_error, "PyErr_Clear") && find(a.release, "Py_DecRef");
  if (!find(a.disable_gc, "PyGC_Disable") || !find(a.enable_gc, "PyGC_Enable"))
    a.disable_gc = a.enable_gc = nullptr;
  return all;
}

// By the interpreter's headers. Without the lock of old (free threading) nothing of it holds.
bool find_layout(const char* version, Layout& l) {
  if (std::strncmp(version, "3.", 2) != 0 || std::strstr(version, "free-threading") != nullptr)
    return false;
  switch (std::atoi(version + 2)) {
    case 9:
    case 10:
      l.top = 24, l.code = 32, l.previous = 24;
      l.is_index = true;
      l.instruction = std::atoi(version + 2) == 9 ? 104 : 96;
      l.unit_bytes = std::atoi(version + 2) == 9 ? 1 : 2;
      return true;
    case 11:
      l.top = 56, l.top_in_holder = 8, l.code = 32, l.previous = 48, l.instruction = 56;
      return true;
    case 12:
      l.top = 56, l.top_in_holder = 0, l.code = 0, l.previous = 8, l.instruction = 56;
      l.owner = 70;
      return true;
    case 13:
      l.top = 72, l.code = 0, l.previous = 8, l.instruction = 56;
      l.owner = 70;
      return true;
    default: return false;
  }
}

// How memory is read: as it is, or, before the layout has been confirmed, so that an address that
// is none is an answer and no signal.
struct Plain {
  template <class T>
  static bool get(uintptr_t address, T& out) {
    std::memcpy(&out, reinterpret_cast<const void*>(address), sizeof out);
    return true;
  }
};
struct Careful {
  template <class T>
  static bool get(uintptr_t address, T& out) {
    iovec to{&out, sizeof out};
    iovec from{reinterpret_cast<void*>(address), sizeof out};
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == static_cast<ssize_t>(sizeof out);
  }
};

// The frames of a thread, from the innermost outwards.
template <class Memory>
class Chain {
 public:
  Chain(const Layout& layout, Object* thread) : l_(layout) {
    good_ = Memory::get(reinterpret_cast<uintptr_t>(thread) + l_.top, at_);
    if (good_ && l_.top_in_holder != Layout::kNone && at_ != 0)
      good_ = Memory::get(at_ + l_.top_in_holder, at_);
    skip();
  }
  bool is_over() const { return at_ == 0 || !good_; }
  bool is_good() const { return good_; }
  Frame frame() {
    Frame out;
    good_ = good_ && Memory::get(at_ + l_.code, out.code);
    if (l_.is_index) {
      int index = 0;
      good_ = good_ && Memory::get(at_ + l_.instruction, index);
      out.instruction = static_cast<uintptr_t>(static_cast<intptr_t>(index) * l_.unit_bytes);
    } else {
      good_ = good_ && Memory::get(at_ + l_.instruction, out.instruction);
    }
    if (l_.lines != 0) good_ = good_ && Memory::get(out.code + l_.lines, out.lines);
    return out;
  }
  void next() {
    good_ = good_ && Memory::get(at_ + l_.previous, at_);
    skip();
  }

 private:
  // What stands for a function in C that called Python.
  void skip() {
    uint8_t owner = 0;
    while (l_.owner != Layout::kNone && at_ != 0 && good_) {
      good_ = Memory::get(at_ + l_.owner, owner);
      if (owner != kOfStack) return;
      good_ = good_ && Memory::get(at_ + l_.previous, at_);
    }
  }

  const Layout& l_;
  uintptr_t at_ = 0;
  bool good_ = false;
};

int offset_of(const Layout& l, const Frame& f) {
  if (l.is_index) return static_cast<int>(f.instruction);
  return static_cast<int>(f.instruction - f.code - l.first_instruction);
}

// A reference that is given back.
class Held {
 public:
  Held(const Api& api, Object* object) : api_(api), object_(object) {}
  ~Held() {
    if (object_ != nullptr) api_.release(object_);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  void set(Object* object) {
    if (object_ != nullptr) api_.release(object_);
    object_ = object;
  }
  Object* get() const { return object_; }

 private:
  const Api& api_;
  Object* object_;
};

// Which words of a code object hold what the attribute is: a bit each.
uint32_t words_with(const Api& api, Object* code, const char* attribute) {
  const Held value(api, api.attribute(code, attribute));
  uint32_t found = 0;
  for (size_t i = 2; i < kCodeWords && value.get() != nullptr; ++i) {
    uintptr_t word = 0;
    if (!Careful::get(reinterpret_cast<uintptr_t>(code) + i * sizeof word, word)) break;
    if (word == reinterpret_cast<uintptr_t>(value.get())) found |= uint32_t{1} << i;
  }
  return found;
}

// Compares all frames of the calling thread, which holds the lock, with what the interpreter says
// of them, and finds the rest of the layout meanwhile.
bool confirm(const Api& api, Object* thread, Layout& l) {
  Chain<Careful> chain(l, thread);
  Held frame(api, api.frame(thread));
  if (frame.get() == nullptr) return false;
  uint32_t files = UINT32_MAX, names = UINT32_MAX, lines = UINT32_MAX;
  const char* const table = l.is_index && l.unit_bytes == 1 ? "co_lnotab" : "co_linetable";
  for (bool is_first = true; frame.get() != nullptr; is_first = false) {
    if (chain.is_over()) return false;
    const Frame mine = chain.frame();
    const Held code(api, api.code(frame.get()));
    const Held last(api, api.attribute(frame.get(), "f_lasti"));
    if (!chain.is_good() || last.get() == nullptr ||
        mine.code != reinterpret_cast<uintptr_t>(code.get()))
      return false;
    const long offset = api.as_long(last.get());
    if (!l.is_index && is_first)
      l.first_instruction = mine.instruction - mine.code - static_cast<uintptr_t>(offset);
    if (offset_of(l, mine) != offset) return false;
    if (api.line_of(code.get(), static_cast<int>(offset)) != api.line(frame.get())) return false;
    files &= words_with(api, code.get(), "co_filename");
    names &= words_with(api, code.get(), "co_name");
    lines &= words_with(api, code.get(), table);
    frame.set(api.back(frame.get()));
    chain.next();
  }
  if (!chain.is_good() || !chain.is_over() || files == 0 || names == 0 || lines == 0) return false;
  const auto at = [](uint32_t words) {
    return static_cast<size_t>(__builtin_ctz(words)) * sizeof(uintptr_t);
  };
  l.file = at(files), l.name = at(names), l.lines = at(lines);
  return l.file != l.name && l.first_instruction < 4096;
}

// Tries to get from kFound to kReady. The lock is held by this thread when its state is the one
// that runs.
Answer prepare(Interpreter& in, Object* thread) {
  const Api& api = in.api;
  if (api.holder() != thread || api.error() != nullptr) return Answer::kNotNow;
  Layout layout;
  if (!find_layout(api.version(), layout)) {
    in.state = State::kRefused;
    return Answer::kNever;
  }
  // Objects are made: what was to be collected must not be collected in here.
  const bool collects = api.disable_gc != nullptr && api.disable_gc() == 1;
  const bool good = confirm(api, thread, layout);
  if (collects) api.enable_gc();
  if (api.error() != nullptr) api.clear_error();
  if (good) {
    in.layout = layout;
    in.state = State::kReady;
    return Answer::kRead;
  }
  if (++in.tries < kMostTries) return Answer::kNotNow;
  in.state = State::kRefused;
  return Answer::kNever;
}

// Null: there are no frames to read now.
Object* readable_thread(const Api& api) {
  return api.is_finalizing() != 0 || api.first_interpreter() != api.main_interpreter()
             ? nullptr
             : api.thread_state();
}

void append_utf8(std::string& out, uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xc0 | (c >> 6));
    out += static_cast<char>(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xe0 | (c >> 12));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (c & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | (c >> 18));
    out += static_cast<char>(0x80 | ((c >> 12) & 0x3f));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (c & 0x3f));
  }
}

std::string text_at(uintptr_t where) {
  const Api& api = interpreter.api;
  uintptr_t object = 0;
  Plain::get(where, object);
  std::string out;
  const ssize_t length = api.length(reinterpret_cast<Object*>(object));
  for (ssize_t i = 0; i < length && out.size() < kLongestText; ++i)
    append_utf8(out, api.character(reinterpret_cast<Object*>(object), i));
  return out;
}

}  // namespace

uintptr_t find_interpreter() {
  static const bool is_wanted = [] {
    const char* const word = std::getenv("REFRAIN_PYTHON_FRAMES");
    return word == nullptr || std::strcmp(word, "off") != 0;
  }();
  Object* (*function)() = nullptr;
  return is_wanted && find(function, kThreadState) ? reinterpret_cast<uintptr_t>(function) : 0;
}

void is_in(uintptr_t code, const std::string& file, uint32_t unloads) {
  Interpreter& in = interpreter;
  bool is_known = false;
  {
    const std::lock_guard<std::mutex> lock(in.changing);
    is_known = in.code == code && in.file != nullptr && *in.file == file;
  }
  Api api{};  // asked for without the lock, as the loader has one of its own
  const bool is_good = !is_known && find_api(api);
  const std::lock_guard<std::mutex> lock(in.changing);
  if (!is_known && (in.code != code || in.file == nullptr || *in.file != file)) {
    delete in.file;
    in.file = new (std::nothrow) std::string(file);
    in.code = code;
    in.api = api;
    in.tries = 0;
    in.state = is_good ? State::kFound : State::kRefused;
  }
  in.unloads = unloads;
}

Answer read(Frame* out, size_t most, size_t& count, bool& is_all) {
  Interpreter& in = interpreter;
  count = 0;
  is_all = true;
  const State state = in.state.load(std::memory_order_acquire);
  if (in.unloads != unloads()) return Answer::kNotNow;
  if (state == State::kRefused) return Answer::kNever;
  if (state == State::kUnknown) return Answer::kCannot;
  Object* const thread = readable_thread(in.api);
  if (thread == nullptr)
    return in.api.thread_state() == nullptr ? Answer::kNoFrame : Answer::kCannot;
  if (state == State::kFound)
    if (const Answer answer = prepare(in, thread); answer != Answer::kRead) return answer;
  Chain<Plain> chain(in.layout, thread);
  for (; !chain.is_over() && count < most; chain.next()) out[count++] = chain.frame();
  is_all = chain.is_over();
  return count > 0 ? Answer::kRead : Answer::kNoFrame;
}

bool still_holds(const Frame* frames, size_t count, bool is_all) {
  const Interpreter& in = interpreter;
  if (in.unloads != unloads()) return false;
  Object* const thread = readable_thread(in.api);
  if (thread == nullptr) return false;
  Chain<Plain> chain(in.layout, thread);
  for (size_t i = 0; i < count; ++i, chain.next())
    if (chain.is_over() || chain.frame() != frames[i]) return false;
  return chain.is_over() == is_all;
}

Place place_of(const Frame& frame) {
  const Interpreter& in = interpreter;
  return {text_at(frame.code + in.layout.file), text_at(frame.code + in.layout.name),
          in.api.line_of(reinterpret_cast<Object*>(frame.code), offset_of(in.layout, frame))};
}

}  // namespace refrain::tracer::python
