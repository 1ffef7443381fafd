#include "tracer/code/python_layout.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

namespace refrain::tracer::python {
namespace {

constexpr size_t kCodeWords = kCodeBytes / sizeof(uintptr_t);

// Which words of a code object hold what the attribute is: a bit each.
uint32_t words_with(const Api& api, Object* code, const char* attribute) {
  const Held value(api, api.attribute(code, attribute));
  uint32_t found = 0;
  for (size_t i = 2; i < kCodeWords && value.get() != nullptr; ++i) {
    uintptr_t word = 0;
    if (!get_word<Careful>(reinterpret_cast<uintptr_t>(code) + i * sizeof word, word)) break;
    if (word == reinterpret_cast<uintptr_t>(value.get())) found |= uint32_t{1} << i;
  }
  return found;
}

}  // namespace

const unsigned char* Careful::view(uintptr_t address, size_t bytes, unsigned char* room) {
  iovec to{room, bytes};
  iovec from{reinterpret_cast<void*>(address), bytes};
  const ssize_t got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
  return got == static_cast<ssize_t>(bytes) ? room : nullptr;
}

size_t Careful::copy_most(uintptr_t address, size_t bytes, unsigned char* room) {
  constexpr size_t kPage = 4096;
  size_t done = 0;
  while (done < bytes) {
    const uintptr_t at = address + done;
    const size_t most = std::min<size_t>(bytes - done, kPage - at % kPage);
    if (view(at, most, room + done) == nullptr) break;
    done += most;
  }
  return done;
}

// Without the lock of old (free threading) nothing of it holds.
bool find_layout(const char* version, Layout& l) {
  if (std::strncmp(version, "3.", 2) != 0 || std::strstr(version, "free-threading") != nullptr)
    return false;
  int minor = 0;
  std::from_chars(version + 2, version + std::strlen(version), minor);
  switch (minor) {
    case 9:
    case 10:
      l.top = 24, l.code = 32, l.previous = 24;
      l.is_index = true;
      l.instruction = minor == 9 ? 104 : 96;
      l.unit_bytes = minor == 9 ? 1 : 2;
      l.frame_bytes = 112;
      return true;
    case 11:
      l.top = 56, l.top_in_holder = 8, l.code = 32, l.previous = 48, l.instruction = 56;
      l.frame_bytes = 64;
      return true;
    case 12:
      l.top = 56, l.top_in_holder = 0, l.code = 0, l.previous = 8, l.instruction = 56;
      l.owner = 70, l.frame_bytes = 72;
      return true;
    case 13:
      l.top = 72, l.code = 0, l.previous = 8, l.instruction = 56;
      l.owner = 70, l.frame_bytes = 72;
      return true;
    case 14:
      l.top = 72, l.code = 0, l.previous = 8, l.instruction = 56;
      l.code_tags = 3;
      l.owner = 74, l.frame_bytes = 80;
      return true;
    default: return false;
  }
}

void keep_chain(const Layout& l, Object* thread, size_t frames, bool is_all, KnownChain& out) {
  out.thread = nullptr;
  out.count = 0;
  uintptr_t at = top_frame(l, thread);
  while (at != 0 && (frames > 0 || is_all)) {
    if (out.count == KnownChain::kMost) return;
    KnownChain::Node& n = out.node[out.count++];
    n.at = at;
    n.code = plain_word(at + l.code);
    n.instruction = plain_word(at + l.instruction);
    const bool is_frame = l.owner == Layout::kNone ||
                          *reinterpret_cast<const uint8_t*>(at + l.owner) < kOfInterpreter;
    if (is_frame && frames == 0) return;  // it has others
    const uintptr_t lines = is_frame ? (n.code & ~l.code_tags) + l.lines : at + l.previous;
    n.place_of_lines = reinterpret_cast<const uintptr_t*>(lines);
    n.lines = *n.place_of_lines;
    frames -= is_frame ? 1 : 0;
    at = plain_word(at + l.previous);
  }
  out.next = at;
  out.thread = thread;
}

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

}  // namespace refrain::tracer::python
