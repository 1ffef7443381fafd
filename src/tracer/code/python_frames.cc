#include "tracer/code/python_frames.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>

#include "options/environment.h"
#include "tracer/code/python_api.h"
#include "tracer/code/unloads.h"

namespace refrain::tracer::python {
namespace {

constexpr int kMostTries = 64;         // comparisons that may fail for a reason that can pass
constexpr size_t kLongestText = 4096;  // characters
constexpr size_t kTextHeader = 80;     // bytes of a string before its characters, or more
constexpr size_t kBytesHeader = 40;    // the same of bytes, and the null behind them
constexpr size_t kLongestTable = 1 << 24;

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

// Null: there are no frames to read now. That nothing is being freed is asked after the state was.
// While the interpreter ends, only the thread that ends it gets the lock, and its own frames stay:
// destructors of objects run in them.
Object* readable_thread(const Api& api) {
  Object* const thread = api.thread_state();
  if (api.first_interpreter() != api.main_interpreter()) return nullptr;
  return api.is_finalizing() == 0 || api.holder() == thread ? thread : nullptr;
}

bool is_main_thread() {
  thread_local constinit int8_t known = -1;
  if (known < 0) known = syscall(SYS_gettid) == getpid() ? 1 : 0;
  return known == 1;
}

// Whether nobody can free the frames of this thread while it reads them: the interpreter ends
// either in this thread, or in one that needs the lock for it, which this one holds.
bool has_own_frames(const Api& api, Object* thread) {
  return is_main_thread() || api.holder() == thread;
}

// After something was copied without has_own_frames(): nothing of it had been freed by then, as an
// interpreter that ends says so first.
bool was_there(const Api& api, Object* thread) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return readable_thread(api) == thread;
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

template <class Memory>
bool read_chain(const Layout& layout, Object* thread, Frame* out, size_t most, size_t& count,
                bool& is_all) {
  Chain<Memory> chain(layout, thread);
  for (; !chain.is_over() && count < most; chain.next()) out[count++] = chain.frame();
  is_all = chain.is_over();
  return chain.is_good();
}

template <class Memory>
bool is_same_chain(const Layout& layout, Object* thread, const Frame* frames, size_t count,
                   bool is_all) {
  Chain<Memory> chain(layout, thread);
  for (size_t i = 0; i < count; ++i, chain.next())
    if (chain.is_over() || chain.frame() != frames[i]) return false;
  return chain.is_good() && chain.is_over() == is_all;
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

// An object whose length is its third word and that ends with that many units: strings, bytes.
class Copy {
 public:
  bool take(uintptr_t object, size_t header, size_t unit, size_t longest) {
    uintptr_t length = 0;
    if (!get_word<Careful>(object + 2 * sizeof length, length) || length > longest) return false;
    const size_t bytes = header + unit * (length + 1);
    bytes_.reset(new (std::nothrow) unsigned char[bytes]());
    return bytes_ != nullptr && Careful::copy_most(object, bytes, bytes_.get()) >= kSmallest;
  }
  Object* get() const { return bytes_.get(); }

 private:
  static constexpr size_t kSmallest = 33;
  std::unique_ptr<unsigned char[]> bytes_;
};

std::string text_of(const Api& api, Object* text) {
  std::string out;
  const ssize_t length = api.length(text);
  for (ssize_t i = 0; i < length && out.size() < kLongestText; ++i)
    append_utf8(out, api.character(text, i));
  return out;
}

}  // namespace

uintptr_t find_interpreter() {
  static const bool is_wanted = !options::is_word(options::RecordOption::kPythonFrames, "off");
  return is_wanted ? find_interpreter_code() : 0;
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
  if (state == State::kFound) {
    if (in.api.is_finalizing() != 0) return Answer::kCannot;  // no time to make objects
    if (const Answer answer = prepare(in, thread); answer != Answer::kRead) return answer;
  }
  if (has_own_frames(in.api, thread))
    read_chain<Plain>(in.layout, thread, out, most, count, is_all);
  else if (!read_chain<Careful>(in.layout, thread, out, most, count, is_all) ||
           !was_there(in.api, thread))
    return Answer::kCannot;
  return count > 0 ? Answer::kRead : Answer::kNoFrame;
}

Answer read(SeenFrames& out, size_t most) {
  const Interpreter& in = interpreter;
  size_t count = 0;
  out.chain.thread = nullptr;
  const Answer answer = read(out.frame, std::min(most, kMostFrames), count, out.is_all);
  out.count = static_cast<uint32_t>(count);
  if (answer != Answer::kRead) return answer;
  Object* const thread = readable_thread(in.api);
  if (thread != nullptr && has_own_frames(in.api, thread))
    keep_chain(in.layout, thread, count, out.is_all, out.chain);
  return answer;
}

bool still_holds(const SeenFrames& seen) {
  const Interpreter& in = interpreter;
  if (in.unloads != unloads()) return false;
  Object* const thread = readable_thread(in.api);
  if (thread == nullptr) return false;
  if (has_own_frames(in.api, thread))
    return is_as_kept(in.layout, thread, seen.chain) ||
           is_same_chain<Plain>(in.layout, thread, seen.frame, seen.count, seen.is_all);
  return is_same_chain<Careful>(in.layout, thread, seen.frame, seen.count, seen.is_all) &&
         was_there(in.api, thread);
}

// The interpreter's functions are asked about copies, which nobody frees.
bool find_place(const Frame& frame, Place& place) {
  const Interpreter& in = interpreter;
  const Layout& l = in.layout;
  Object* const thread = readable_thread(in.api);
  alignas(uintptr_t) unsigned char code[kCodeBytes] = {};
  if (thread == nullptr || Careful::copy_most(frame.code, sizeof code, code) <
                               std::max({l.file, l.name, l.lines}) + sizeof(uintptr_t))
    return false;
  const auto object_at = [&code](size_t offset) {
    uintptr_t out = 0;
    std::memcpy(&out, code + offset, sizeof out);
    return out;
  };
  Copy file, name, lines;
  if (!file.take(object_at(l.file), kTextHeader, sizeof(uint32_t), kLongestTable) ||
      !name.take(object_at(l.name), kTextHeader, sizeof(uint32_t), kLongestTable) ||
      !lines.take(object_at(l.lines), kBytesHeader, 1, kLongestTable) || !was_there(in.api, thread))
    return false;
  Object* const table = lines.get();
  std::memcpy(code + l.lines, &table, sizeof table);
  place = {text_of(in.api, file.get()), text_of(in.api, name.get()),
           in.api.line_of(code, offset_of(l, frame))};
  return true;
}

}  // namespace refrain::tracer::python
